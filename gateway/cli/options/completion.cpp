#include "gateway/cli/options/completion.hpp"

#include <algorithm>
#include <functional>

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

// Calls `work` for each command that --help shows, with its path, such as "keys create".
void for_each_command(const CLI::App& app, const std::string& path,
                      const std::function<void(const CLI::App&, const std::string&)>& work) {
  work(app, path);
  for (const CLI::App* command : commands_of(app))
    for_each_command(*command,
                     path.empty() ? command->get_name() : path + " " + command->get_name(), work);
}

std::string fish_line(const std::string& path) {
  return "complete -c sandgate -n " + fish_quoted("__sandgate_at " + fish_quoted(path));
}

// The names of an option, whether it takes a value, and which, where they are a closed set.
std::string fish_option(const CLI::Option& option) {
  std::string line;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  if (const std::string values = values_of(option); !values.empty())
    line += " -x -k -a " + fish_quoted(values);
  else if (option.get_items_expected_max() > 0)
    line += " -r";
  return line + " -d " + fish_quoted(option.get_description());
}

// A command's subcommands and options, and the values that go without a name.
void add_fish_lines(const CLI::App& app, const std::string& path, std::string& script) {
  const std::string line = fish_line(path);
  for (const CLI::App* command : commands_of(path == kHelp ? *app.get_parent() : app))
    script += line + " -f -a " + command->get_name() + " -d " +
              fish_quoted(command->get_description()) + "\n";
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional())
      script += line + fish_option(*option) + "\n";
    else if (const std::string values = values_of(*option); !values.empty())
      script += line + " -f -k -a " + fish_quoted(values) + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  return find_function(root) + R"(_sandgate() {
  local words_after='' word="${COMP_WORDS[COMP_CWORD]}"
  _sandgate_find "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=($(compgen -W "$words_after" -- "$word"))
}
complete -o default -F _sandgate sandgate
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

// A name such as `list` belongs to several commands: what may follow depends on all words before.
std::string fish_completion(const CLI::App& root) {
  std::string paths, lines;
  for_each_command(root, "", [&](const CLI::App& app, const std::string& path) {
    if (!path.empty()) paths += " " + fish_quoted(path);
    add_fish_lines(app, path, lines);
  });
  return "function __sandgate_at\n  set -l paths" + paths + R"(
  set -l route
  for word in (commandline -opc)[2..-1]
    set -l next (string join -- ' ' $route $word)
    contains -- "$next" $paths; and set route $route $word
  end
  test "$route" = "$argv"
end
)" + lines;
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
