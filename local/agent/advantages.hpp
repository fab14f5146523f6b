#pragma once

// What the agent has over the programs that it starts, so that none of them keeps it from its work.
namespace sandgate::agent {

// More descriptors than programs expect. Once, before the first child. Its priority the launcher
// gave it, where that is the sandbox's own affair.
void take_advantages();

// In a child that becomes a program: priority and descriptors as everybody has them.
void give_up_advantages();

// In any child, before it loses its identity: when memory is short, it goes before the agent, and
// before what is not of a sandbox.
void be_ended_first();

}  // namespace sandgate::agent
