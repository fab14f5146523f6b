#include "gateway/cli/completion.hpp"

namespace sandgate::cli {
namespace {

// Returns the subcommands that --help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

// Returns the words that may follow: subcommands and long options.
std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) words += command->get_name() + " ";
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  return words;
}

void add_bash_cases(const CLI::App& app, const std::string& path, std::string& script) {
  script += "    '" + path + "') words='" + words_after(app) + "' ;;\n";
  for (const CLI::App* command : commands_of(app))
    add_bash_cases(*command, path.empty() ? command->get_name() : path + " " + command->get_name(),
                   script);
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

void add_fish_lines(const CLI::App& app, const std::string& condition, std::string& script) {
  for (const CLI::App* command : commands_of(app)) {
    script += "complete -c sandgate -f -n '" + condition + "' -a " + command->get_name() + " -d " +
              fish_quoted(command->get_description()) + "\n";
    const std::string seen = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        script += "complete -c sandgate -n '" + seen + "' -l " + name + " -d " +
                  fish_quoted(option->get_description()) + "\n";
    add_fish_lines(*command, seen, script);
  }
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::string cases;
  add_bash_cases(root, "", cases);
  return R"(_sandgate() {
  local path='' next words word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    next="${path:+$path }$word"
    _sandgate_words "$next" && path="$next"
  done
  _sandgate_words "$path"
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
  [[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
_sandgate_words() {
  case "$1" in
)" + cases +
         R"(    *) return 1 ;;
  esac
}
complete -F _sandgate sandgate
)";
}

std::string zsh_completion(const CLI::App& root) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_completion(root);
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
