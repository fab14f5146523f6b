#include "gateway/app/image_commands.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <regex>

#include "gateway/app/node_settings.hpp"
#include "gateway/app/settings_flags.hpp"
#include "gateway/cli/context.hpp"
#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/cli/terminal/table.hpp"
#include "local/image/build.hpp"
#include "local/image/import.hpp"
#include "local/image/program.hpp"
#include "local/image/store.hpp"
#include "local/node/server/client.hpp"
#include "local/node/storage/image_garbage.hpp"

namespace sandgate {
namespace {

NodeSettings settings_of(const SettingsFlags& flags) { return node_settings(flags.load()); }

ImageStore open_store(const NodeSettings& settings) {
  std::error_code failure;
  std::filesystem::create_directories(images_dir(settings), failure);
  if (failure || access(images_dir(settings).c_str(), W_OK) != 0)
    throw Error(ErrorCode::forbidden, images_dir(settings) +
                                          " belongs to somebody else: run this command as the "
                                          "account that the node runs as (sudo)");
  return ImageStore(images_dir(settings));
}

// Of an image that an earlier command was killed in the middle of, nothing stays.
ImageStore open_to_add(const NodeSettings& settings) {
  ImageStore store = open_store(settings);
  store.collect_drafts();
  return store;
}

std::optional<ImageInfo> find_image(const ImageStore& store, const std::string& name) {
  for (const ImageInfo& image : store.list())
    if (image.name == name) return image;
  return std::nullopt;
}

// Progress goes to standard error, so that standard output holds only the result.
void show_progress(std::string_view line) { std::cerr << line << std::endl; }

void print_image(const ImageInfo& image, bool as_json) {
  if (as_json)
    std::cout << to_json(image).dump(2) << "\n";
  else
    std::cout << image.name << " " << image.digest << " " << image.size_bytes / (1 << 20)
              << " MiB\n";
}

// Ends as programs do that a signal ends, but with nothing left behind.
int unless_interrupted(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const Interrupted& end) {
    std::cerr << "interrupted" << std::endl;
    return cli::kEndedBySignal + end.number;
  }
}

struct BuildOptions {
  std::string name;
  std::vector<std::string> packages;
  bool if_missing = false;
  bool as_json = false;
};

// Whether the name is that of another system than the one that is built.
bool names_another_release(const std::string& name) {
  static const std::regex kOthers(
      "debian-?(?!12([^0-9]|$))[0-9].*|(debian-)?(buster|bullseye|trixie|forky|sid|testing|"
      "unstable)"
      "|(ubuntu|alpine|fedora|centos|rocky|alma|rhel|ubi|amazonlinux|arch|opensuse|busybox|wolfi)"
      "([^a-z].*|linux.*)?");
  return std::regex_match(name, kOthers);
}

int build(const SettingsFlags& flags, const BuildOptions& options) {
  if (names_another_release(options.name))
    throw Error(
        ErrorCode::invalid,
        "what this builds is Debian 12, which the name '" + options.name +
            "' would hide: choose another, or fetch that system with `sandgate image pull`");
  if (geteuid() != 0)
    throw Error(ErrorCode::forbidden, "only root can build images: run this command with sudo");
  ImageStore store = open_to_add(settings_of(flags));
  if (const auto present = options.if_missing ? find_image(store, options.name) : std::nullopt) {
    if (options.as_json)
      print_image(*present, /*as_json=*/true);
    else
      std::cout << options.name << " is there\n";
    return 0;
  }
  BuildRequest request;
  request.name = options.name;
  request.extra_packages = options.packages;
  return unless_interrupted(
      [&] { print_image(build_image(store, request, show_progress), options.as_json); });
}

struct ImportOptions {
  PullRequest request;
  std::string path;
  bool as_json = false;
};

int import_file(const SettingsFlags& flags, const ImportOptions& options) {
  ImageStore store = open_to_add(settings_of(flags));
  print_image(import_image(store, options.request.name, options.path, show_progress),
              options.as_json);
  return 0;
}

int pull(const SettingsFlags& flags, const ImportOptions& options) {
  ImageStore store = open_to_add(settings_of(flags));
  return unless_interrupted(
      [&] { print_image(pull_image(store, options.request, show_progress), options.as_json); });
}

// A running node knows which images are in use; without one this process may change the store.
bool told_node(const NodeSettings& settings, const std::string& verb, const Json& params) {
  asio::io_context loop;
  const NodeClient node(socket_path(settings));
  auto answer = asio::co_spawn(loop, node.call(verb, params), asio::use_future);
  loop.run();
  try {
    answer.get();
    return true;
  } catch (const Error& error) {
    if (error.code != ErrorCode::unavailable) throw;
    return false;
  }
}

int forget(const SettingsFlags& flags, const std::string& name, bool as_json) {
  const NodeSettings settings = settings_of(flags);
  ImageStore store = open_store(settings);
  const Json params{{"name", name}};
  if (!told_node(settings, "remove_image", params)) {
    store.remove(name);
    collect_images(settings, store);
  }
  if (as_json) std::cout << Json{{"removed", name}}.dump() << "\n";
  return 0;
}

int collect(const SettingsFlags& flags, bool as_json) {
  const NodeSettings settings = settings_of(flags);
  ImageStore store = open_store(settings);
  const Json gone = collect_images(settings, store);
  if (as_json) {
    std::cout << Json{{"removed", gone}}.dump(2) << "\n";
    return 0;
  }
  for (const Json& digest : gone) std::cout << "removed " << digest.get<std::string>() << "\n";
  return 0;
}

int verify(const SettingsFlags& flags, const std::string& name, bool as_json) {
  const bool intact = open_store(settings_of(flags)).verify(name);
  if (as_json)
    std::cout << Json{{"name", name}, {"intact", intact}}.dump(2) << "\n";
  else
    std::cout << name << (intact ? " is intact\n" : " IS NOT what its digest says\n");
  return intact ? 0 : 1;
}

int list(const SettingsFlags& flags, bool as_json) {
  Json images = Json::array();
  cli::Table table({"NAME", "DIGEST", ">MIB", "CREATED"});
  const ImageStore store = open_store(settings_of(flags));
  for (const ImageInfo& image : store.list()) {
    images.push_back(to_json(image));
    table.add({image.name, image.digest.substr(0, 19), std::to_string(image.size_bytes >> 20),
               cli::time_cell(images.back(), "/created_at")});
  }
  if (as_json)
    std::cout << Json{{"items", images}}.dump(2) << "\n";
  else
    table.print(cli::Console::standard(), "No images. `sandgate image build debian-12` makes one.");
  for (const std::string& name : store.broken())
    std::cerr << name << " has a broken description: remove it, and make it again\n";
  return 0;
}

void add_build(CLI::App& image, int& exit_code) {
  CLI::App* command =
      image.add_subcommand("build", "Make an image from packages of Debian 12 (root)");
  const auto flags = std::make_shared<SettingsFlags>(*command);
  const auto options = std::make_shared<BuildOptions>();
  command->add_option("NAME", options->name, "Its name, such as debian-12")->required();
  command->add_option("--package", options->packages, "An additional package; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--if-missing", options->if_missing, "Do nothing if the image exists");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([flags, options, &exit_code] { exit_code = build(*flags, *options); });
}

void add_import(CLI::App& image, int& exit_code) {
  CLI::App* command = image.add_subcommand("import", "Make an image from an OCI archive or layout");
  const auto flags = std::make_shared<SettingsFlags>(*command);
  const auto options = std::make_shared<ImportOptions>();
  command->add_option("PATH", options->path, "An archive file or a layout directory")->required();
  command->add_option("NAME", options->request.name, "Its name here")->required();
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([flags, options, &exit_code] { exit_code = import_file(*flags, *options); });
}

void add_pull(CLI::App& image, int& exit_code) {
  CLI::App* command = image.add_subcommand("pull", "Fetch an image from a registry (skopeo)");
  const auto flags = std::make_shared<SettingsFlags>(*command);
  const auto options = std::make_shared<ImportOptions>();
  command
      ->add_option("REFERENCE", options->request.reference,
                   "Such as docker.io/library/python:3.12-slim")
      ->required();
  command->add_option("NAME", options->request.name, "Its name here")->required();
  command->add_option("--credentials", options->request.credentials,
                      "File with registry credentials");
  command->add_flag("--plain-http", options->request.plain_http, "The registry has no TLS");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([flags, options, &exit_code] { exit_code = pull(*flags, *options); });
}

// A command with --json and at most one argument, an image name.
struct Simple {
  const char *name, *help;
  bool takes_name;
  int (*run)(const SettingsFlags& flags, const std::string& name, bool as_json);
};
constexpr Simple kSimple[] = {
    {"list", "List images", false,
     [](const SettingsFlags& flags, const std::string&, bool json) { return list(flags, json); }},
    {"remove", "Remove an image, and its files once no sandbox uses them", true, forget},
    {"gc", "Remove files that no image and no sandbox uses", false,
     [](const SettingsFlags& flags, const std::string&, bool json) {
       return collect(flags, json);
     }},
    {"verify", "Compare an image's files with its digest", true, verify},
};

void add_simple(CLI::App& image, const Simple& simple, int& exit_code) {
  CLI::App* command = image.add_subcommand(simple.name, simple.help);
  const auto flags = std::make_shared<SettingsFlags>(*command);
  const auto name = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  if (simple.takes_name) command->add_option("NAME", *name, "Its name")->required();
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([flags, name, as_json, run = simple.run, &exit_code] {
    exit_code = run(*flags, *name, *as_json);
  });
}

}  // namespace

void add_image_commands(CLI::App& app, int& exit_code) {
  CLI::App* image = app.add_subcommand("image", "Manage the images of the bundled local provider");
  image->require_subcommand(1);
  add_build(*image, exit_code);
  add_import(*image, exit_code);
  add_pull(*image, exit_code);
  for (const Simple& simple : kSimple) add_simple(*image, simple, exit_code);
}

}  // namespace sandgate
