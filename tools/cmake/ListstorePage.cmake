# Puts the page of the HTTP port together, and writes it as a C++ source:
#
#     cmake -DFOLDER=engine/faces/http/page -DSCRIPTS=dom.js,main.js -DOUTPUT=page_html.cc -P ListstorePage.cmake
#
# FOLDER has index.html, style.css and the SCRIPTS, which become one module in the order that is said here.
# The page brings the hashes by which its Content-Security-Policy knows its own style and script.

# The SHA-256 of `text` in base64.
function(hash_of text result)
  string(SHA256 hex "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(base64 "")
  # Six digits are three bytes, and four of base64. Two bytes of 32 are left over.
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${at} 6 digits)
    math(EXPR bytes "0x${digits}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${bytes} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "${base64}=" PARENT_SCOPE)
endfunction()

# Compilers limit the length of one literal.
function(literals_of text result)
  set(literals "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 part)
    string(APPEND literals "    R\"page(${part})page\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

# A list would be cut at the semicolons of what is read: names alone are in one.
string(REPLACE "," ";" scripts "${SCRIPTS}")
file(GLOB present RELATIVE "${FOLDER}" "${FOLDER}/*.js")
list(REMOVE_ITEM present ${scripts})
if(present)
  message(FATAL_ERROR "${FOLDER}: ${present} is not among the scripts of the page")
endif()
set(script "\n")
foreach(name IN LISTS scripts)
  file(READ "${FOLDER}/${name}" text)
  if(text MATCHES "</script|\\)page\"")
    message(FATAL_ERROR "${FOLDER}/${name} has what would end the script or the literal")
  endif()
  string(APPEND script "${text}\n")
endforeach()
file(READ "${FOLDER}/style.css" style)
file(READ "${FOLDER}/index.html" page)
string(REPLACE "/* STYLE */" "${style}" page "${page}")
string(REPLACE "/* SCRIPT */" "${script}" page "${page}")
hash_of("${style}" style_hash)
hash_of("${script}" script_hash)
string(SHA256 page_hash "${page}")
literals_of("${page}" literals)
file(WRITE "${OUTPUT}" "// Made of engine/faces/http/page by tools/cmake/ListstorePage.cmake.
#include \"engine/faces/http/page.h\"

namespace liststore::http_face {

const std::string_view kPageHtml =
${literals}    ;
const std::string_view kPageStyleHash = \"sha256-${style_hash}\";
const std::string_view kPageScriptHash = \"sha256-${script_hash}\";
const std::string_view kPageHash = \"${page_hash}\";

}  // namespace liststore::http_face
")
