#include "gateway/ports/port_address.hpp"

#include <gtest/gtest.h>

namespace sandgate::ports::test {
namespace {

constexpr char kAskedFor[] = "sb0123456789abcdefghijklmn";

http::Request asking(std::string target, std::string host = "gw.example.com") {
  http::Request request;
  request.target = std::move(target);
  request.headers.add("Host", std::move(host));
  return request;
}

std::string told(const http::Request& request, std::string_view domain = "") {
  if (!is_for_port(request, domain)) return "not ours";
  const auto address = port_address(request, domain);
  if (!address) return "malformed";
  return std::to_string(address->port) + " " + std::string(address->path) + " " +
         std::string(address->query) + " " + (address->prefix.empty() ? "host" : "path");
}

TEST(PortAddress, IsReadFromPathsAndHosts) {
  const std::string p = std::string("/p/") + kAskedFor;
  EXPECT_EQ(told(asking(p + "/80/a%2Fb?x=1")), "80 /a%2Fb x=1 path");
  EXPECT_EQ(told(asking(p + "/80")), "80   path");
  EXPECT_EQ(told(asking(p + "/80?x")), "80  x path");
  EXPECT_EQ(told(asking("http://h" + p + "/80/")), "80 /  path");
  EXPECT_EQ(told(asking("/v1/sandboxes")), "not ours");
  for (const char* wrong : {"/0/", "/65536/", "/080/", "/x/", "//", "", "/-1/", "/80x/"})
    EXPECT_EQ(told(asking(p + wrong)), "malformed") << wrong;
  EXPECT_EQ(told(asking("/p/other/80/")), "malformed");
  const std::string host = std::string("80-") + kAskedFor + ".d.org";
  EXPECT_EQ(told(asking("/a?b", host), "d.org"), "80 /a b host");
  EXPECT_EQ(told(asking("/a", host + ":99"), "d.org:8080"), "80 /a  host");
  const std::string longer = std::string("80-") + kAskedFor;
  EXPECT_EQ(told(asking("/a", longer + "-client.d.org"), "d.org"), "80 /a  host");
  EXPECT_EQ(told(asking("/a", longer + "x.d.org"), "d.org"), "malformed");
  EXPECT_EQ(told(asking("/a", longer + ".client.d.org"), "d.org"), "malformed");
  EXPECT_EQ(told(asking(p + "-client/80/")), "malformed");
  EXPECT_EQ(told(asking("/a", host), ""), "not ours");
  EXPECT_EQ(told(asking("/a", "d.org"), "d.org"), "not ours");
  EXPECT_EQ(told(asking("/a", "evild.org"), "d.org"), "not ours");
  EXPECT_EQ(told(asking("/a", "x.d.org"), "d.org"), "malformed");
}

TEST(PortAddress, NamesThePortThatClientsOfTheDomainReach) {
  const auto reached = [](std::string host, std::string_view domain, const char* proxy = nullptr) {
    http::Request request = asking("/", std::move(host));
    if (proxy) request.headers.add(proxy, "x");
    return reached_domain(request, domain);
  };
  EXPECT_EQ(reached("[::1]:8443", "d.org"), "d.org:8443");
  for (const char* host : {"gw.d.org", "[::1]", "", "d.org:", "d.org:x", "d.org:70000"})
    EXPECT_EQ(reached(host, "d.org"), "d.org");
  EXPECT_EQ(reached("h:8080", "d.org:443"), "d.org:443");
  for (const char* proxy : {"X-Forwarded-Proto", "X-Forwarded-For", "X-Forwarded-Host"})
    EXPECT_EQ(reached("h:8080", "d.org", proxy), "d.org") << proxy;
}

}  // namespace
}  // namespace sandgate::ports::test
