#pragma once

namespace sandgate::cli {

// The exit code of what a signal ended is this and the signal's number, as shells have it.
constexpr int kEndedBySignal = 128;

// The signal that asked this program to end since catch_interrupts(), or 0: SIGINT, SIGTERM,
// SIGHUP, or SIGPIPE once note_broken_pipe() was called. A running transfer then ends with
// Error(timeout) "interrupted", unless its Call has more patience.
int interrupt_signal();
// How many came.
int interrupts();
inline bool interrupted() { return interrupt_signal() != 0; }

// Blocks SIGINT, SIGTERM and SIGHUP in this thread until catch_interrupts().
void block_interrupts();
// Makes these signals set the flag instead of ending the program; SIGHUP stays ignored under nohup.
// From then on SIGPIPE is ignored, so that cleanup can run when nobody reads the output any more.
void catch_interrupts();
void note_broken_pipe();
// Forgets what came and restores the default actions, so that cleanup (a kill) can run; a second
// Ctrl-C ends the program at once.
void reset_interrupts();

}  // namespace sandgate::cli
