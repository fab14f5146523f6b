#pragma once
#include <gtest/gtest.h>

#include "tests/support/box_gateway.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {

// One sandbox behind the handlers, and requests to it.
class BoxTest : public testing::Test {
 protected:
  BoxTest() : gateway_(loop_.executor()), id_(loop_.run(gateway_.make_box({}))) {}

  HttpReply send(std::string method, const std::string& tail, std::string body = "",
                 HttpFields headers = {}) {
    HttpCall call{.method = std::move(method),
                  .url = "http://here/v1/sandboxes/" + id_ + tail,
                  .headers = std::move(headers),
                  .body = std::move(body)};
    return loop_.run(gateway_.client.call(std::move(call)));
  }
  Json exec(const Json& body) {
    const auto reply = send("POST", "/exec", body.dump());
    return Json::parse(reply.body);
  }

  LiveLoop loop_;
  BoxGateway gateway_;
  std::string id_;
};

}  // namespace sandgate::test
