// Signatures of requests: AWS Signature Version 4. Source: AWS's general reference, "Signature Version 4 signing
// process".
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_SIGNATURE_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_SIGNATURE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/dynamodb/values/error.h"
#include "engine/faces/http/message.h"

namespace liststore::dynamodb_face {

// Access key id -> secret access key.
using Credentials = std::map<std::string, std::string, std::less<>>;

// The text of a file: a line for each, the access key's id, blanks, and its secret; lines that are empty or begin
// with # are none. nullopt, with `*error` set to why: a line is no such.
std::optional<Credentials> ParseCredentials(std::string_view text, std::string* error);

dynamodb::Error UnrecognizedClient();

// Checks the request's signature; the access key's id. Errors of DynamoDB: it is not signed, the key is
// not known, the signature is another one. The date is not looked at: clocks are moved here. O(bytes).
dynamodb::ErrorOr<std::string> CheckSignature(const http_face::HttpRequest& request,
                                              const Credentials& credentials);

// Of a request by this key: what is compared. `date`: "20261123"; `headers`: names in their order.
std::string SignatureOf(const http_face::HttpRequest& request, std::string_view secret,
                        std::string_view scope, std::string_view signed_headers);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_SIGNATURE_H_
