#pragma once
#include <string>

#include "local/egress/client_hello.hpp"
#include "local/egress/stream.hpp"

namespace sandgate::egress {

// Looks at what a client sends first and leaves it in the socket. Whoever calls cuts the connection
// when this takes too long.

// incomplete: the client went away.
Task<HelloResult> peek_hello(Socket& client);

// What a connection to any other port begins with; a server may speak first.
enum class FirstWords { tls, http, other };
Task<FirstWords> peek_first_words(Socket& client, Socket& upstream);

}  // namespace sandgate::egress
