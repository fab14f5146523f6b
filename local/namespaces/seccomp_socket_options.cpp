#include "local/namespaces/seccomp_socket_options.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace sandgate {
namespace {

// Makes setsockopt() of these options fail with the errno `answer`, or for 0 succeed without
// effect.
void answer_options(SeccompFilter& filter, uint16_t answer, uint64_t level,
                    std::initializer_list<uint64_t> options) {
  for (const uint64_t option : options)
    filter.add(SCMP_ACT_ERRNO(answer), "setsockopt",
               {SCMP_A1(SCMP_CMP_MASKED_EQ, SeccompFilter::kLow, level),
                SCMP_A2(SCMP_CMP_MASKED_EQ, SeccompFilter::kLow, option)});
}

// Options that let a socket hold kernel memory for which no control group is charged (queues of
// errors and of sent packets with their times, keys of TCP segments, options of IPv6, datagrams
// that are gathered, see allow_sends), or what the whole machine has few of (half-closed
// connections without a socket, flow labels).
void refuse_uncharged_options(SeccompFilter& filter) {
  constexpr int kTimestampingNew = 65, kFirstAuthentication = 38, kIpv6Options = 6, kUdpCork = 1;
  constexpr int kIpv6FlowLabels = 32, kIpv6RoutingHeader = 57;
  // Reports success: the C library's resolver gives up its socket on an error.
  answer_options(filter, 0, IPPROTO_IP, {IP_RECVERR});
  answer_options(filter, 0, IPPROTO_IPV6, {IPV6_RECVERR});
  answer_options(filter, EPERM, SOL_SOCKET, {SO_TIMESTAMPING, kTimestampingNew});
  answer_options(filter, EPERM, IPPROTO_TCP,
                 {TCP_MD5SIG, TCP_MD5SIG_EXT, kFirstAuthentication, TCP_LINGER2});
  answer_options(filter, EPERM, IPPROTO_UDP, {kUdpCork});
  answer_options(filter, EPERM, IPPROTO_IPV6, {kIpv6Options, kIpv6FlowLabels, kIpv6RoutingHeader});
}

// A socket may be in many groups on loopback, for which no control group is charged, and to leave
// them takes time that grows with the square of their number, under a lock that every start of a
// sandbox on the machine needs. No group has members elsewhere, so joining one answers what the
// kernel answers where no interface is named.
void refuse_memberships(SeccompFilter& filter) {
  constexpr int kIpv6Anycast = 27;
  answer_options(
      filter, ENODEV, IPPROTO_IP,
      {IP_ADD_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP});
  answer_options(filter, ENODEV, IPPROTO_IPV6,
                 {IPV6_JOIN_GROUP, kIpv6Anycast, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP});
}

// What switches something in the kernel of the whole machine. The first UDP socket with such an
// option makes it rewrite its code, for which it interrupts every processor, and the end of the
// last one does so again; the first delay of what a TCP socket sends switches it until the machine
// is booted again. The answer is that of a kernel without these options.
void refuse_socket_switches(SeccompFilter& filter) {
  constexpr int kEncapsulation = 100, kMergedReceive = 104, kSendDelay = 37;
  answer_options(filter, ENOPROTOOPT, IPPROTO_UDP, {kEncapsulation, kMergedReceive});
  answer_options(filter, ENOPROTOOPT, IPPROTO_TCP, {kSendDelay});
}

// No control group is charged for unaccepted connections, so receive buffers keep the network
// namespace's initial size. SO_RCVLOWAT enlarges them, too, those of a listening socket's
// connections as well. Reports success, because programs handle an error badly.
void keep_receive_buffers(SeccompFilter& filter) {
  answer_options(filter, 0, SOL_SOCKET, {SO_RCVBUF, SO_RCVLOWAT});
}

// Whoever closes a lingering socket waits for its peer. One in flight between Unix sockets that are
// gone is closed by a kernel thread, which then closes no other such file of the whole machine.
// Reports success, because programs handle an error badly.
void keep_sockets_from_lingering(SeccompFilter& filter) {
  answer_options(filter, 0, SOL_SOCKET, {SO_LINGER});
}

// Such a layer (TLS in the kernel) parses in the kernel what programs can parse themselves, with
// state for which no control group is charged. The answer is that of a kernel without it.
void refuse_layers_over_tcp(SeccompFilter& filter) {
  answer_options(filter, ENOENT, IPPROTO_TCP, {TCP_ULP});
}

// Compiled, they use the machine's limited JIT memory, for which no control group is charged.
void refuse_socket_filters(SeccompFilter& filter) {
  answer_options(
      filter, EPERM, SOL_SOCKET,
      {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF});
}

}  // namespace

void restrict_socket_options(SeccompFilter& filter) {
  refuse_socket_filters(filter);
  keep_receive_buffers(filter);
  keep_sockets_from_lingering(filter);
  refuse_uncharged_options(filter);
  refuse_memberships(filter);
  refuse_socket_switches(filter);
  refuse_layers_over_tcp(filter);
}

}  // namespace sandgate
