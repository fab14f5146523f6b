#pragma once

namespace sandgate {

// Its name below /proc/sys/net. 0: who asks for the time at which a packet is sent gets nothing,
// unless privileged. Otherwise the kernel puts a copy of the packet in the socket's error queue,
// for which no control group is charged. A program asks by a control message of sendmsg(), which a
// filter does not see. Each network namespace has a setting of its own (as in Linux 6.18), or else
// the machine has one.
inline constexpr const char* kTransmitTimestamps = "core/tstamp_allow_data";

}  // namespace sandgate
