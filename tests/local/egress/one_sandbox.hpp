#pragma once
#include <gtest/gtest.h>

#include "local/egress/egress_sandbox.hpp"
#include "tests/support/run.hpp"

namespace sandgate::egress::test {

// Fixture with a sandbox in the egress process, to be used on `loop_`, which only the test runs.
class OneSandboxTest : public ::testing::Test {
 protected:
  int64_t counted() const { return read_byte_count(count_); }

  sandgate::test::TempDirectory directory_;
  const std::string count_ = directory_.path() + "/count";
  asio::io_context loop_{1};
  FairResolver resolver_{loop_, {.threads = 1}};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  Services services_{loop_, resolver_, std::make_shared<DescriptorQuota>(1024), AddressPolicy(),
                     tls_};
  const std::shared_ptr<EgressSandbox> sandbox_ =
      std::make_shared<EgressSandbox>(services_, "sb1", "tn1", Policy(), open_byte_count(count_));
};

}  // namespace sandgate::egress::test
