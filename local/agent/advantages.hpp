#pragma once

// Resource privileges of the agent over the programs it starts, so that none of them can starve it.
namespace sandgate::agent {

// Raises the soft limit of descriptors to the hard limit. Call once, before the first child. The
// agent's CPU priority is set by the launcher, not here.
void take_advantages();

// Restores the default priority and descriptor limit. Call in a child that will run a program.
void give_up_advantages();

// Raises this process's OOM score, so that the kernel kills it before the agent and before
// processes outside sandboxes. Call in every child before it drops its identity.
void be_ended_first();

}  // namespace sandgate::agent
