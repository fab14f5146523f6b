#include "local/egress/authority.hpp"

#include <gtest/gtest.h>

namespace sandgate::egress {
namespace {

std::string host(int number) { return "h" + std::to_string(number) + ".example"; }

TEST(Authority, VouchesForNewHostsAsLongAsOldOnesAreForgotten) {
  Authority authority("sb1");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) authority.context_for(host(100 * round + i));
    authority.keep_only({host(100 * round)});
  }
  const auto* kept = &authority.context_for(host(200));
  EXPECT_EQ(kept, &authority.context_for(host(200)));
}

// A connection in memory that ends as it should; false when its handshake fails.
bool comes_and_goes(SSL_CTX* server_context, SSL_CTX* client_context) {
  const std::unique_ptr<SSL, void (*)(SSL*)> server(SSL_new(server_context), SSL_free),
      client(SSL_new(client_context), SSL_free);
  BIO *one = nullptr, *other = nullptr;
  if (BIO_new_bio_pair(&one, 0, &other, 0) != 1) return false;
  SSL_set_bio(server.get(), one, one);
  SSL_set_bio(client.get(), other, other);
  SSL_set_accept_state(server.get());
  SSL_set_connect_state(client.get());
  for (int turn = 0; turn < 10; ++turn) {
    SSL_do_handshake(client.get());
    SSL_do_handshake(server.get());
  }
  // Without that the library forgets the session by itself.
  SSL_shutdown(client.get());
  SSL_shutdown(server.get());
  return SSL_is_init_finished(client.get()) && SSL_is_init_finished(server.get());
}

// Only such a client's session would be kept by the server.
TEST(Authority, RemembersNoSessionOfAClientWithoutTickets) {
  Authority authority("sb1");
  SSL_CTX* const servers = authority.context_for(host(1)).native_handle();
  boost::asio::ssl::context clients(boost::asio::ssl::context::tlsv12_client);
  SSL_CTX_set_options(clients.native_handle(), SSL_OP_NO_TICKET);
  ASSERT_TRUE(comes_and_goes(servers, clients.native_handle()));
  EXPECT_EQ(SSL_CTX_sess_number(servers), 0);
}

// One in the largest field takes 0.2 s of the process that serves all sandboxes.
TEST(Authority, AgreesToNoKeyExchangeOverAFiniteField) {
  Authority authority("sb1");
  SSL_CTX* const servers = authority.context_for(host(1)).native_handle();
  const auto agrees_to = [&](const char* groups) {
    boost::asio::ssl::context clients(boost::asio::ssl::context::tls_client);
    EXPECT_EQ(SSL_CTX_set1_groups_list(clients.native_handle(), groups), 1) << groups;
    return comes_and_goes(servers, clients.native_handle());
  };
  for (const char* groups : {"X25519", "P-256", "P-384", "ffdhe2048:P-256"})
    EXPECT_TRUE(agrees_to(groups)) << groups;
  for (const char* groups : {"ffdhe2048", "ffdhe8192"}) EXPECT_FALSE(agrees_to(groups)) << groups;
}

}  // namespace
}  // namespace sandgate::egress
