#include "tools/console/terminal_description.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {
namespace {

// What terminfo(5) says of "xterm" in ncurses 6.4, as `infocmp -0 -q -Q2 xterm` prints it: TERMINFO may hold a description
// itself.
constexpr char kXterm[] =
    "b64:GgE9AB0ADwBxAQoGeHRlcm18eHRlcm0tZGViaWFufHh0ZXJtIHRlcm1pbmFsIGVtdWxhdG9yIChYIFdpbmRvdyBT"
    "eXN0ZW0pAAABAAABAAAAAQAAAAABAQAAAAAAAAABAAABAAABUAAIABgA__________________________8IAEAAAAAE"
    "AAYACAAZAB4AJgAqAC4A__85AEoATABQAFcA__9ZAGYA__9qAG4AeAB8AP____-AAIQAiQCOAP__oAClAKoA__-vALQA"
    "uQC-AMcAywDSAP__5ADpAO8A9QD_______8HAf_______xkB__8dAf_______x8B__8kAf__________KAEsATIBNgE6"
    "AT4BRAFKAVABVgFcAWAB__9lAf__aQFuAXMBdwF-Af__hQGJAZEB_____________________________5kBogGrAf__"
    "rgG3AcAByQHSAdsB5AHtAfYB_wH_______8IAgwCEQIWAioCLQL_____PwJCAk0CUAJSAlUCsgL__7UC__________-3"
    "ArsCvwLDAscC_____8sC__8AA_____8EAwoD_____________xAD_____________xQDGAP_____________________"
    "_____________________________________________xwD_____yMD__________8qAzEDOAP_____PwP__0YD____"
    "____TQP_____________VANaA2ADZwNuA3UDfAOEA4wDlAOcA6QDrAO0A7wDwwPKA9ED2APgA-gD8AP4AwAECAQQBBgE"
    "HwQmBC0ENAQ8BEQETARUBFwEZARsBHQEewSCBIkEkASYBKAEqASwBLgEwATIBNAE1wTeBOUE6gT_________________"
    "__________________________________________EE_AQBBRQFGAX__________yEFZwX__________________60F"
    "________________________sgX_____________________________________________________uAXJBf______"
    "_______________________bBf_______98F6QX___________________MFG1taAAcADQAbWyVpJXAxJWQ7JXAyJWRy"
    "ABtbM2cAG1tIG1sySgAbW0sAG1tKABtbJWklcDElZEcAG1slaSVwMSVkOyVwMiVkSAAKABtbSAAbWz8yNWwACAAbWz8x"
    "MmwbWz8yNWgAG1tDABtbQQAbWz8xMjsyNWgAG1tQABtbTQAbKDAAG1s1bQAbWzFtABtbPzEwNDloG1syMjswOzB0ABtb"
    "Mm0AG1s0aAAbWzhtABtbN20AG1s3bQAbWzRtABtbJXAxJWRYABsoQgAbKEIbW20AG1s_MTA0OWwbWzIzOzA7MHQAG1s0"
    "bAAbWzI3bQAbWzI0bQAbWz81aCQ8MTAwLz4bWz81bAAbWyFwG1s_Mzs0bBtbNGwbPgAbW0wAfwAbWzN-ABtPQgAbT1AA"
    "G1syMX4AG09RABtPUgAbT1MAG1sxNX4AG1sxN34AG1sxOH4AG1sxOX4AG1syMH4AG09IABtbMn4AG09EABtbNn4AG1s1"
    "fgAbT0MAG1sxOzJCABtbMTsyQQAbT0EAG1s_MWwbPgAbWz8xaBs9ABtbPzEwMzRsABtbPzEwMzRoABtFABtbJXAxJWRQ"
    "ABtbJXAxJWRNABtbJXAxJWRCABtbJXAxJWRAABtbJXAxJWRTABtbJXAxJWRMABtbJXAxJWREABtbJXAxJWRDABtbJXAx"
    "JWRUABtbJXAxJWRBABtbaQAbWzRpABtbNWkAJXAxJWMbWyVwMiV7MX0lLSVkYgAbYwAbWyFwG1s_Mzs0bBtbNGwbPgAb"
    "OAAbWyVpJXAxJWRkABs3AAoAG00AJT8lcDkldBsoMCVlGyhCJTsbWzAlPyVwNiV0OzElOyU_JXA1JXQ7MiU7JT8lcDIl"
    "dDs0JTslPyVwMSVwMyV8JXQ7NyU7JT8lcDQldDs1JTslPyVwNyV0OzglO20AG0gACQAbT3cAG095ABtPdQAbT3EAG09z"
    "AGBgYWFmZmdnaWlqamtrbGxtbW5ub29wcHFxcnJzc3R0dXV2dnd3eHh5eXp6e3t8fH19fn4AG1taABtbPzdoABtbPzds"
    "ABtPRQAbT0YAG09NABtbMzsyfgAbWzE7MkYAG1sxOzJIABtbMjsyfgAbWzE7MkQAG1s2OzJ-ABtbNTsyfgAbWzE7MkMA"
    "G1syM34AG1syNH4AG1sxOzJQABtbMTsyUQAbWzE7MlIAG1sxOzJTABtbMTU7Mn4AG1sxNzsyfgAbWzE4OzJ-ABtbMTk7"
    "Mn4AG1syMDsyfgAbWzIxOzJ-ABtbMjM7Mn4AG1syNDsyfgAbWzE7NVAAG1sxOzVRABtbMTs1UgAbWzE7NVMAG1sxNTs1"
    "fgAbWzE3OzV-ABtbMTg7NX4AG1sxOTs1fgAbWzIwOzV-ABtbMjE7NX4AG1syMzs1fgAbWzI0OzV-ABtbMTs2UAAbWzE7"
    "NlEAG1sxOzZSABtbMTs2UwAbWzE1OzZ-ABtbMTc7Nn4AG1sxODs2fgAbWzE5OzZ-ABtbMjA7Nn4AG1syMTs2fgAbWzIz"
    "OzZ-ABtbMjQ7Nn4AG1sxOzNQABtbMTszUQAbWzE7M1IAG1sxOzNTABtbMTU7M34AG1sxNzszfgAbWzE4OzN-ABtbMTk7"
    "M34AG1syMDszfgAbWzIxOzN-ABtbMjM7M34AG1syNDszfgAbWzE7NFAAG1sxOzRRABtbMTs0UgAbWzFLABtbPzY5bAAb"
    "WyVpJWQ7JWRSABtbNm4AG1s_JVs7MDEyMzQ1Njc4OV1jABtbYwAbWzM5OzQ5bQAbWzMlPyVwMSV7MX0lPSV0NCVlJXAx"
    "JXszfSU9JXQ2JWUlcDElezR9JT0ldDElZSVwMSV7Nn0lPSV0MyVlJXAxJWQlO20AG1s0JT8lcDElezF9JT0ldDQlZSVw"
    "MSV7M30lPSV0NiVlJXAxJXs0fSU9JXQxJWUlcDElezZ9JT0ldDMlZSVwMSVkJTttABtbM20AG1syM20AG1s_NjloG1sl"
    "aSVwMSVkcwAbWz82OWgbWyVpOyVwMSVkcwAbWzwAG1szJXAxJWRtABtbNCVwMSVkbQAbWz82OWgbWyVpJXAxJWQ7JXAy"
    "JWRzAA==";

void AppendParted(std::string_view folders, std::vector<std::string>* all) {
  while (true) {
    const size_t end = folders.find(':');
    if (end != 0) all->emplace_back(folders.substr(0, end));
    if (end == std::string_view::npos) return;
    folders.remove_prefix(end + 1);
  }
}

// Where ncurses looks, and where the distributions have their database.
std::vector<std::string> DatabaseFolders() {
  std::vector<std::string> folders;
  if (const char* const given = std::getenv("TERMINFO")) folders.emplace_back(given);
  if (const char* const home = std::getenv("HOME"))
    folders.push_back(std::string(home) + "/.terminfo");
  if (const char* const more = std::getenv("TERMINFO_DIRS")) AppendParted(more, &folders);
  AppendParted("/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo", &folders);
  return folders;
}

// In a folder for its first letter, or for that letter's code where file names do not tell large letters from small.
bool IsDescribed(const std::string& terminal) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto letter = static_cast<unsigned char>(terminal[0]);
  const std::string code = {kDigits[letter >> 4], kDigits[letter & 15]};
  for (const std::string& folder : DatabaseFolders()) {
    for (const std::string& inner : {std::string(1, terminal[0]), code}) {
      const std::string path = folder + '/' + inner + '/' + terminal;
      if (::access(path.c_str(), R_OK) == 0) return true;
    }
  }
  return false;
}

}  // namespace

void DescribeUnknownTerminal() {
  const char* const given = std::getenv("TERM");
  const std::string terminal = given == nullptr ? "" : given;
  if (terminal.empty() || terminal == "dumb" || IsDescribed(terminal)) return;
  // The user has brought a description in the variable.
  const char* const description = std::getenv("TERMINFO");
  if (description != nullptr && (std::string_view(description).starts_with("b64:") ||
                                 std::string_view(description).starts_with("hex:"))) {
    return;
  }
  ::setenv("TERM", "xterm", 1);
  ::setenv("TERMINFO", kXterm, 1);
}

}  // namespace liststore
