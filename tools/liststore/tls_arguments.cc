#include "tools/liststore/tls_arguments.h"

namespace liststore {

void AddTlsArguments(const Subcommand& command, const std::string& prefix,
                     const std::string& server, ClientTlsOptions* tls) {
  const std::string name = "--" + prefix + "tls";
  command.Flag(name, &tls->is_on,
               "Connect to " + server + " over TLS, and verify its certificate and host");
  command
      .Option(name + "-ca", &tls->ca_file,
              "CAs that may have signed it, in PEM form [those that the system trusts]")
      .Value("FILE");
  command
      .Option(name + "-certificate", &tls->certificate_file,
              "The client's own certificate, if it needs one")
      .Value("FILE");
  command
      .Option(name + "-key", &tls->key_file,
              "Its key, without a passphrase [in the certificate's file]")
      .Value("FILE");
  command.Flag(name + "-insecure", &tls->trusts_anybody, "Verify nothing");
}

}  // namespace liststore
