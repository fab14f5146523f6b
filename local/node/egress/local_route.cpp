#include "local/node/egress/local_route.hpp"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr int kLoopbackIndex = 1;

struct Block {
  int family = AF_INET;
  std::array<uint8_t, 16> address{};
  uint8_t length = 0;
};

Block block_of(const std::string& text) {
  Block block;
  const size_t slash = std::min(text.find('/'), text.size());
  if (text.find(':') != std::string::npos) block.family = AF_INET6;
  const std::string address = text.substr(0, slash);
  if (inet_pton(block.family, address.c_str(), block.address.data()) != 1)
    throw StepError("route to " + text, EINVAL);
  const int all = block.family == AF_INET ? 32 : 128;
  block.length =
      static_cast<uint8_t>(slash == text.size() ? all : std::stoi(text.substr(slash + 1)));
  return block;
}

struct Request {
  nlmsghdr header{};
  rtmsg route{};
  std::array<uint8_t, 64> attributes{};
};

void add_attribute(Request& request, uint16_t type, const void* value, size_t size) {
  rtattr attribute{static_cast<uint16_t>(RTA_LENGTH(size)), type};
  const size_t at = request.header.nlmsg_len - NLMSG_LENGTH(sizeof(rtmsg));
  std::memcpy(request.attributes.data() + at, &attribute, sizeof attribute);
  std::memcpy(request.attributes.data() + at + RTA_LENGTH(0), value, size);
  request.header.nlmsg_len += static_cast<uint32_t>(RTA_ALIGN(RTA_LENGTH(size)));
}

// Sends a netlink request and returns the kernel's answer as an errno.
int ask(const Request& request) {
  const Fd netlink =
      check_fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), "netlink");
  check(send(netlink.get(), &request, request.header.nlmsg_len, 0), "netlink");
  struct {
    nlmsghdr header;
    nlmsgerr error;
    std::array<uint8_t, 256> rest;
  } answer{};
  const ssize_t got = check(recv(netlink.get(), &answer, sizeof answer, 0), "netlink");
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return EBADMSG;
  return -answer.error.error;
}

// `done`: the answer that says there is nothing to do.
void change_route(const std::string& block_text, uint16_t type, uint16_t flags, int done) {
  const Block block = block_of(block_text);
  Request request;
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof(rtmsg));
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  request.route.rtm_family = static_cast<uint8_t>(block.family);
  request.route.rtm_dst_len = block.length;
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  if (block.length > 0)
    add_attribute(request, RTA_DST, block.address.data(), block.family == AF_INET ? 4 : 16);
  add_attribute(request, RTA_OIF, &kLoopbackIndex, sizeof kLoopbackIndex);
  const int failure = ask(request);
  if (failure != 0 && failure != done) throw StepError("route to " + block_text, failure);
}

}  // namespace

void add_local_route(const std::string& block) {
  change_route(block, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, EEXIST);
}

void remove_local_route(const std::string& block) { change_route(block, RTM_DELROUTE, 0, ESRCH); }

}  // namespace sandgate
