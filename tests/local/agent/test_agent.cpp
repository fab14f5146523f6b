// Runs the agent as an ordinary process:
//   sandgate-test-agent <listener fd> <account> <uid> <gid> <home> [root] [warm sandbox]
// [NAME=value…]
#include <cstdlib>
#include <string>

#include "local/agent/agent.hpp"

int main(int count, char** words) {
  if (count < 6) return 2;
  sandgate::agent::AgentSettings settings;
  settings.listener = std::atoi(words[1]);
  settings.account = {words[2], static_cast<uint32_t>(std::atoi(words[3])),
                      static_cast<uint32_t>(std::atoi(words[4])), words[5]};
  for (int i = 6; i < count; ++i) {
    const std::string word = words[i];
    const size_t equals = word.find('=');
    if (word == "root")
      settings.allow_root = true;
    else if (word == "seat")
      settings.awaits_owner = true;
    else
      settings.env[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return sandgate::agent::run_agent(std::move(settings));
}
