// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The dovetail command: the command line into the options of one verb. CLI11
// is slow to compile, so it is in this file alone.
//
// The words behind a verb are taken apart here, not by CLI11: DB may be left
// out if DOVETAIL_DB names it, which CLI11 cannot express.

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/checkpoint.h"
#include "cli/demo.h"
#include "cli/exit_code.h"
#include "cli/import.h"
#include "cli/init.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/read_verbs.h"
#include "cli/set.h"
#include "cli/stats.h"
#include "cli/verify.h"

namespace dovetail::cli {
namespace {

// The usage line comes from the verb's own words.
class Formatter final : public CLI::Formatter {
 public:
  explicit Formatter(std::string words) : words_(std::move(words)) {
    column_width(32);
  }
  std::string make_usage(const CLI::App*, std::string name) const override {
    return absl::StrCat("Usage: ", name, " ", words_, " [OPTIONS]\n");
  }

 private:
  std::string words_;
};

bool IsTableName(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyz"
             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

// "-" is a file, and -5 a number.
bool IsOption(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

// The words of a verb, taken from the front.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  bool empty() const { return at_ == words_.size(); }

  // With DOVETAIL_DB set, a first word that could be a table's name is one
  // where `table_follows`; any other word there is, is the database.
  absl::Status TakeDb(bool table_follows, std::string* db) {
    const char* env = std::getenv("DOVETAIL_DB");
    const bool has_env = env != nullptr && *env != '\0';
    if (has_env && (empty() || (table_follows && IsTableName(words_[at_])))) {
      *db = env;
      return {};
    }
    if (empty()) {
      return UsageError(
          "DB is missing; give its directory, or set DOVETAIL_DB");
    }
    *db = words_[at_++];
    return {};
  }
  absl::Status Take(std::string_view name, std::string* word) {
    if (empty()) {
      return UsageError(absl::StrCat(ToAbsl(name), " is missing"));
    }
    *word = words_[at_++];
    return {};
  }
  std::vector<std::string> TakeRest() {
    const auto from = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ = words_.size();
    return {from, words_.end()};
  }
  absl::Status End() const {
    if (empty()) return {};
    return UsageError(
        absl::StrCat("one word too many: ", ToAbsl(Quote(words_[at_]))));
  }

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
};

using Run = std::function<absl::Status(Words words, const Console&)>;

struct Verb {
  CLI::App* app;  // Owned by the whole command line.
  Run run;
};

// All verbs with their options.
class CommandLine {
 public:
  explicit CommandLine(std::string program)
      : app_("Orders and other records with indexes that never disagree.",
             "dovetail") {
    demo_.program = std::move(program);
    app_.formatter(std::make_shared<Formatter>("VERB DB"));
    app_.set_version_flag("--version", "dovetail " DOVETAIL_VERSION);
    app_.require_subcommand(0, 1);
    app_.footer(
        "With DOVETAIL_DB set, DB may be left out; a database whose path "
        "could\n"
        "be the name of a table is then written ./NAME. In values, \\xNN is a\n"
        "byte and \\N null; -- stands before values that begin with a dash.\n"
        "Exit: 0 done, 1 failed or not found, 2 wrong usage, 3 damage found,\n"
        "4 database in use, 130 interrupted.\n\n"
        "Examples:\n"
        "  dovetail demo\n"
        "  dovetail init ./db --preset seller_orders\n"
        "  dovetail import ./db orders orders.csv\n"
        "  dovetail top ./db orders --index by_status seller-1 SHIPPED -n 10");
    AddInit();
    AddImport();
    AddGet();
    AddGetBy();
    AddTop();
    AddSet();
    AddVerify();
    AddRepair();
    AddCheckpoint();
    AddStats();
    AddDemo();
  }

  // `arguments` without the program's name.
  ExitCode Main(std::vector<std::string> arguments) {
    // Behind "--" everything is a word.
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    std::vector<std::string> plain;
    if (mark != arguments.end()) plain.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
    std::reverse(arguments.begin(), arguments.end());  // As CLI11 wants them.
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return OnParseError(error);
    }
    for (const Verb& verb : verbs_) {
      if (verb.app->parsed()) return RunVerb(verb, plain);
    }
    std::cerr << app_.help();
    return ExitCode::kUsage;
  }

 private:
  ExitCode RunVerb(const Verb& verb, const std::vector<std::string>& plain) {
    const Console console = Console::Detect(output_);
    std::vector<std::string> words = verb.app->remaining();
    absl::Status status;
    for (const std::string& word : words) {
      if (IsOption(word)) {
        status = UsageError(absl::StrCat(
            "no such option; a value that begins with a dash stands behind "
            "--: option=",
            word));
      }
    }
    words.insert(words.end(), plain.begin(), plain.end());
    if (status.ok()) status = verb.run(Words(std::move(words)), console);
    const absl::Status flushed = FlushOutput();
    if (status.ok()) status = flushed;
    if (ExitCodeOf(status) == ExitCode::kUsage) {
      status = WithHint(status, absl::StrCat("See dovetail ",
                                             verb.app->get_name(), " --help"));
    }
    if (!status.ok()) PrintError(console, status);
    return ExitCodeOf(status);
  }

  ExitCode OnParseError(const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help or --version.
      app_.exit(error);
      return ExitCode::kDone;
    }
    const std::vector<CLI::App*> parsed = app_.get_subcommands();
    const std::string verb =
        parsed.empty() ? "" : absl::StrCat(parsed[0]->get_name(), " ");
    PrintError(Console::Detect(output_),
               WithHint(UsageError(absl::StrCat(
                            parsed.empty() ? "unknown verb or option: " : "",
                            error.what())),
                        absl::StrCat("See dovetail ", verb, "--help")));
    return ExitCode::kUsage;
  }

  CLI::App* Add(const char* name, const char* group, const char* usage,
                const char* description, const char* examples, Run run) {
    CLI::App* app = app_.add_subcommand(name, description);
    app->group(group);
    app->formatter(std::make_shared<Formatter>(usage));
    app->footer(absl::StrCat("Examples:\n", examples));
    // What is no option is a word. A list option for them would take "[a,b]"
    // for two.
    app->allow_extras();
    app->add_flag("--json", output_.json, "JSON on standard output");
    app->add_flag("-q,--quiet", output_.quiet, "No notes, no progress");
    verbs_.push_back({app, std::move(run)});
    return app;
  }

  // An option that may be repeated, one value each time.
  static CLI::Option* AddRepeated(CLI::App* app, const char* name,
                                  std::vector<std::string>& values,
                                  const char* description) {
    return app->add_option(name, values, description)
        ->take_all()
        ->allow_extra_args(false);
  }

  void AddInit() {
    CLI::App* app =
        Add("init", "Data", "DB (--preset NAME | --schema FILE)",
            "Create a database, or add tables to one",
            "  dovetail init ./db --preset seller_orders\n"
            "  dovetail init ./db --schema shop.textproto --proto shop.proto",
            [this](Words words, const Console& console) -> absl::Status {
              RETURN_IF_ERROR(words.TakeDb(false, &init_.db));
              RETURN_IF_ERROR(words.End());
              return RunInit(init_, console);
            });
    app->add_option("--preset", init_.preset, "seller_orders or split_orders");
    app->add_option("--table", init_.table, "The preset's table [orders]");
    app->add_option("--schema", init_.schema_file,
                    "A dovetail.v1.Schema in Protobuf's text format");
    AddRepeated(app, "--proto", init_.proto_files,
                "A .proto file with record types; repeat for more");
    AddRepeated(app, "--proto-path", init_.proto_paths,
                "Where imports are looked for [the file's directory]");
  }

  void AddImport() {
    CLI::App* app =
        Add("import", "Data", "DB TABLE FILE",
            "Put the rows of a CSV or JSON Lines file; - is standard input",
            "  dovetail import ./db orders orders.csv\n"
            "  dovetail import ./db orders sales.csv "
            "--map 'order_id={Order ID}#{index}' \\\n"
            "    --map seller_id=Category "
            "--map 'ts_ms=Date:time(%m-%d-%y|%m-%d-%Y)' \\\n"
            "    --map amount_cents=Amount:cents --default amount_cents=0\n"
            "  xzcat orders.jsonl.xz | dovetail import ./db orders - "
            "--format jsonl",
            [this](Words words, const Console& console) -> absl::Status {
              RETURN_IF_ERROR(words.TakeDb(true, &import_.db));
              RETURN_IF_ERROR(words.Take("TABLE", &import_.table));
              RETURN_IF_ERROR(words.Take("FILE", &import_.file));
              RETURN_IF_ERROR(words.End());
              return RunImport(import_, console);
            });
    app->add_option("--format", import_.format,
                    "csv or jsonl [by the file's name]");
    AddRepeated(app, "--map", import_.maps,
                "FIELD=COLUMN[:CONVERSION] or FIELD=text{COLUMN}text; repeat "
                "for each field. Conversions: time time_s time_ms time_us "
                "time(FORMAT|FORMAT) cents upper enum. Without --map, columns "
                "fill the fields of their names");
    AddRepeated(app, "--default", import_.defaults,
                "FIELD=VALUE for empty cells, or without a column");
    app->add_flag("--allow-empty-keys", import_.allow_empty_keys,
                  "Take rows whose key fields are empty");
    app->add_option("--delimiter", import_.delimiter,
                    "Between CSV fields [comma; tab for .tsv]");
    app->add_option("--on-error", import_.on_error,
                    "stop: import all lines before the first bad one and "
                    "nothing from it on; skip: leave bad lines out [stop]");
    app->add_option("--rejects", import_.rejects,
                    "With skip: a new file for bad lines and their causes, "
                    "as JSON Lines");
    app->add_flag("--atomic", import_.atomic,
                  "All of the file in one request, or nothing of it");
    app->add_option("--skip-lines", import_.skip_lines,
                    "Go on behind this line of the file");
    app->add_option("--batch", import_.batch, "Rows per request [500]");
    app->add_flag("--sync", import_.sync,
                  "Make each request durable, not only the end");
  }

  void AddGet() {
    Add("get", "Data", "DB TABLE VALUE...",
        "One row by its row key, a value per column",
        "  dovetail get ./db orders seller-1 1767225600000 o-17",
        [this](Words words, const Console& console) -> absl::Status {
          RETURN_IF_ERROR(words.TakeDb(true, &get_.db));
          RETURN_IF_ERROR(words.Take("TABLE", &get_.table));
          get_.values = words.TakeRest();
          return RunGet(get_, console);
        });
  }

  void AddGetBy() {
    Add("get-by", "Data", "DB TABLE INDEX VALUE...",
        "Rows by the first columns of an index",
        "  dovetail get-by ./db orders by_order_id o-17",
        [this](Words words, const Console& console) -> absl::Status {
          RETURN_IF_ERROR(words.TakeDb(true, &get_by_.db));
          RETURN_IF_ERROR(words.Take("TABLE", &get_by_.table));
          RETURN_IF_ERROR(words.Take("INDEX", &get_by_.index));
          get_by_.values = words.TakeRest();
          return RunGetBy(get_by_, console);
        });
  }

  void AddTop() {
    CLI::App* app = Add(
        "top", "Data", "DB TABLE [VALUE...]",
        "The first rows of a range, in the order of the row key or an index",
        "  dovetail top ./db orders seller-1 -n 10\n"
        "  dovetail top ./db orders --index by_status seller-1 SHIPPED\n"
        "  dovetail top ./db orders --index by_status seller-1 "
        "--in CREATED,APPROVED --from 2026-01-01",
        [this](Words words, const Console& console) -> absl::Status {
          RETURN_IF_ERROR(words.TakeDb(true, &top_.db));
          RETURN_IF_ERROR(words.Take("TABLE", &top_.table));
          top_.values = words.TakeRest();
          return RunTop(top_, console);
        });
    app->add_option("--index", top_.index, "The index [the row key]");
    app->add_option("-n,--limit", top_.limit, "Rows at most [20]");
    AddRepeated(app, "--in", top_.any_of,
                "One of these values, V1,V2,..., in the next column");
    app->add_option("--from", top_.from,
                    "At least this value in the column after those");
    app->add_option("--to", top_.to, "Below this value in the same column");
    app->add_option("--after", top_.after,
                    "Go on behind the page that printed this token");
  }

  void AddSet() {
    CLI::App* app =
        Add("set", "Data", "DB TABLE INDEX VALUE... FIELD=VALUE...",
            "Change fields of a row; INDEX - is the row key",
            "  dovetail set ./db orders by_order_id o-17 status=SHIPPED\n"
            "  dovetail set ./db orders by_order_id o-17 status=CANCELED "
            "--if status=CREATED",
            [this](Words words, const Console& console) -> absl::Status {
              RETURN_IF_ERROR(words.TakeDb(true, &set_.db));
              RETURN_IF_ERROR(words.Take("TABLE", &set_.table));
              RETURN_IF_ERROR(words.Take("INDEX", &set_.index));
              set_.words = words.TakeRest();
              return RunSet(set_, console);
            });
    app->add_flag("--all", set_.all, "Every matching row, not exactly one");
    AddRepeated(app, "--if", set_.conditions,
                "FIELD=VALUE that must hold, or nothing is changed");
    app->add_flag("--sync", set_.sync, "Return once the change is durable");
  }

  void AddVerify() {
    Add("verify", "Care", "DB", "Check that rows and index entries agree",
        "  dovetail verify ./db",
        [this](Words words, const Console& console) -> absl::Status {
          RETURN_IF_ERROR(words.TakeDb(false, &verify_.db));
          RETURN_IF_ERROR(words.End());
          return RunVerify(verify_, console);
        });
  }

  void AddRepair() {
    CLI::App* app =
        Add("repair", "Care", "DB", "Make index entries agree with the rows",
            "  dovetail repair ./db --dry-run",
            [this](Words words, const Console& console) -> absl::Status {
              RETURN_IF_ERROR(words.TakeDb(false, &repair_.db));
              RETURN_IF_ERROR(words.End());
              return RunRepair(repair_, console);
            });
    app->add_flag("--dry-run", repair_.dry_run, "Only say what would be done");
    app->add_flag("-y,--yes", repair_.yes, "Do not ask");
  }

  void AddCheckpoint() {
    CLI::App* app =
        Add("checkpoint", "Care", "DB DEST",
            "Copy a database that no process has open to a new directory",
            "  dovetail checkpoint ./db ./backup/db-2026-01-31",
            [this](Words words, const Console& console) -> absl::Status {
              // One word alone could be either: both are always given.
              RETURN_IF_ERROR(words.Take("DB", &checkpoint_.db));
              RETURN_IF_ERROR(words.Take("DEST", &checkpoint_.destination));
              RETURN_IF_ERROR(words.End());
              return RunCheckpoint(checkpoint_, console);
            });
    app->add_flag("--copy", checkpoint_.copy,
                  "Copy table files, instead of giving them a second name");
  }

  void AddStats() {
    Add("stats", "Care", "DB", "Tables, indexes and their sizes",
        "  dovetail stats ./db --json",
        [this](Words words, const Console& console) -> absl::Status {
          RETURN_IF_ERROR(words.TakeDb(false, &stats_.db));
          RETURN_IF_ERROR(words.End());
          return RunStats(stats_, console);
        });
  }

  void AddDemo() {
    CLI::App* app =
        Add("demo", "Start here", "[DB]",
            "Make a database of orders, ask it questions, verify it",
            "  dovetail demo\n  dovetail demo ./demo-db --orders 1000000",
            [this](Words words, const Console& console) -> absl::Status {
              // Never the database of DOVETAIL_DB: the demo wants a new one.
              if (!words.empty()) RETURN_IF_ERROR(words.Take("DB", &demo_.db));
              RETURN_IF_ERROR(words.End());
              return RunDemo(demo_, console);
            });
    app->add_option("--orders", demo_.orders, "How many [200000]");
    app->add_option("--seed", demo_.seed, "Same seed, same orders [1]");
  }

  CLI::App app_;
  OutputOptions output_;
  std::vector<Verb> verbs_;

  InitOptions init_;
  ImportOptions import_;
  GetOptions get_;
  GetByOptions get_by_;
  TopOptions top_;
  SetOptions set_;
  VerifyVerbOptions verify_;
  RepairVerbOptions repair_;
  CheckpointVerbOptions checkpoint_;
  StatsVerbOptions stats_;
  DemoOptions demo_;
};

}  // namespace
}  // namespace dovetail::cli

int main(int argc, char** argv) {
  dovetail::cli::InstallInterruptHandler();
  dovetail::cli::CommandLine command_line(argc > 0 ? argv[0] : "dovetail");
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(command_line.Main(std::move(arguments)));
}
