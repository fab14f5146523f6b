#include "gateway/cli/completion.hpp"

#include <algorithm>

namespace sandgate::cli {
namespace {

constexpr const char* kHelp = "help";  // the command that takes the others' names

// Returns the subcommands that --help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

// Returns the values that an option takes, where they are a closed set: CLI11 tells them as the
// end of the type's name, "{memory,disk}".
std::string values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.rfind('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  std::string words = type.substr(begin + 1, end - begin - 1) + " ";
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

// Returns the words that may follow: subcommands, long options and values without a name.
std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) words += command->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) words += values_of(*option);
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

// Cases of the words before, in a syntax that bash and zsh share.
void add_cases(const CLI::App& app, const std::string& path, std::string& script) {
  const auto add = [&](const std::string& before, const std::string& words) {
    script += "    '" + before + "') words_after='" + words + "' ;;\n";
  };
  const std::string begin = path.empty() ? "" : path + " ";
  add(path, path == kHelp ? words_after(*app.get_parent()) : words_after(app));
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::string values = values_of(*option); !values.empty())
        add(begin + "--" + name, values);
  for (const CLI::App* command : commands_of(app))
    add_cases(*command, begin + command->get_name(), script);
}

// `_sandgate_find` sets words_after, from all words but the one to complete.
std::string find_function(const CLI::App& root) {
  std::string cases;
  add_cases(root, "", cases);
  return R"(_sandgate_words() {
  case "$1" in
)" + cases +
         R"(    *) return 1 ;;
  esac
}
_sandgate_find() {
  local route='' next='' word=''
  for word in "$@"; do
    [[ $word == -* ]] && continue
    next="${route:+$route }$word"
    _sandgate_words "$next" && route="$next"
  done
  [[ $word == -* ]] && _sandgate_words "${route:+$route }$word" && return
  _sandgate_words "$route"
}
)";
}

// These two characters are the only special ones between fish's single quotes.
std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_values(const CLI::Option& option) {
  const std::string values = values_of(option);
  return values.empty() ? "" : " -x -a " + fish_quoted(values);
}

void add_fish_lines(const CLI::App& app, const std::string& condition, std::string& script) {
  for (const CLI::App* command : commands_of(app)) {
    script += "complete -c sandgate -f -n '" + condition + "' -a " + command->get_name() + " -d " +
              fish_quoted(command->get_description()) + "\n";
    const std::string seen = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        script += "complete -c sandgate -n '" + seen + "' -l " + name + fish_values(*option) +
                  " -d " + fish_quoted(option->get_description()) + "\n";
    add_fish_lines(*command, seen, script);
  }
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  return find_function(root) + R"(_sandgate() {
  local words_after='' word="${COMP_WORDS[COMP_CWORD]}"
  _sandgate_find "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=($(compgen -W "$words_after" -- "$word"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _sandgate sandgate
)";
}

// To be sourced, or to be a file `_sandgate` of $fpath, which zsh runs as the function's body.
std::string zsh_completion(const CLI::App& root) {
  return "#compdef sandgate\n" + find_function(root) + R"(_sandgate() {
  local words_after=''
  _sandgate_find "${(@)words[2,CURRENT-1]}"
  compadd -- ${=words_after} || _files
}
if [[ ${funcstack[1]} == _sandgate ]]; then
  _sandgate "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _sandgate sandgate
fi
)";
}

std::string fish_completion(const CLI::App& root) {
  std::string script;
  add_fish_lines(root, "__fish_use_subcommand", script);
  return script;
}

void add_completion_command(CLI::App& app, const ContextPtr& context) {
  auto shell = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print a completion script");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, context, shell] {
    context->console().out << (*shell == "bash"  ? bash_completion(app)
                               : *shell == "zsh" ? zsh_completion(app)
                                                 : fish_completion(app));
  });
}

}  // namespace sandgate::cli
