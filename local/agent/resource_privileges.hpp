#pragma once

// Resource privileges of the agent over the programs it starts, so that none of them can starve it.
namespace sandgate::agent {

// Raises the soft limit of descriptors to the hard limit. Call once, before the first child. The
// agent's CPU priority is set by the launcher, not here.
void raise_own_limits();

// Restores the default priority and descriptor limit. Call in a child that will run a program.
void reset_child_limits();

// Raises this process's OOM score, so that the kernel kills it before the agent and before
// processes outside sandboxes. Call in every child before it drops its identity.
void raise_oom_score();

}  // namespace sandgate::agent
