// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/demo.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"

namespace dovetail::cli {
namespace {

constexpr std::string_view kTable = "orders";
constexpr uint64_t kOrdersMax = 100'000'000;
constexpr uint64_t kBatch = 500;
constexpr int64_t kFirstMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
constexpr int64_t kSpanMs = int64_t{90} * 24 * 3600 * 1000;
constexpr uint64_t kChangeOneIn = 10;

// Orders by number, all decided by the seed. Sellers follow Zipf's law: the
// second has half the orders of the first, the third a third. The standard
// library's distributions differ between systems; these do not.
class Orders {
 public:
  Orders(uint64_t count, uint64_t seed) : count_(count), random_(seed) {
    const uint64_t sellers = std::clamp<uint64_t>(count / 100, 1, 20'000);
    double sum = 0;
    for (uint64_t i = 0; i < sellers; ++i) {
      sum += 1.0 / static_cast<double>(i + 1);
      cumulated_.push_back(sum);
    }
  }

  size_t sellers() const { return cumulated_.size(); }
  static std::string SellerId(size_t number) {
    return absl::StrFormat("s%05d", number);
  }
  static std::string OrderId(uint64_t number) {
    return absl::StrFormat("o%08d", number);
  }

  v1::Order Make(uint64_t number) {
    v1::Order order;
    order.set_order_id(OrderId(number));
    order.set_seller_id(SellerId(Seller()));
    order.set_buyer_id(absl::StrFormat("b%06d", Below(count_ / 3 + 1)));
    order.set_ts_ms(kFirstMs +
                    static_cast<int64_t>(static_cast<double>(number) * kSpanMs /
                                         static_cast<double>(count_)));
    order.set_status(Status());
    order.set_amount_cents(static_cast<int64_t>(100 + Below(50'000)));
    order.set_currency("EUR");
    order.set_items(static_cast<int32_t>(1 + Below(5)));
    return order;
  }

  uint64_t Below(uint64_t n) { return random_() % n; }

 private:
  size_t Seller() {
    const double unit = static_cast<double>(random_() >> 11) * 0x1.0p-53;
    const auto at = std::upper_bound(cumulated_.begin(), cumulated_.end(),
                                     unit * cumulated_.back());
    return std::min<size_t>(static_cast<size_t>(at - cumulated_.begin()),
                            cumulated_.size() - 1);
  }
  v1::OrderStatus Status() {
    const uint64_t percent = Below(100);
    return percent < 6    ? v1::CREATED
           : percent < 14 ? v1::APPROVED
           : percent < 26 ? v1::SHIPPED
           : percent < 96 ? v1::DELIVERED
                          : v1::CANCELED;
  }

  const uint64_t count_;
  std::mt19937_64 random_;
  std::vector<double> cumulated_;
};

absl::StatusOr<std::string> FreshDirectory(const std::string& wanted) {
  if (!wanted.empty()) {
    std::error_code error;
    const bool there = std::filesystem::exists(wanted, error);
    if (there && !std::filesystem::is_empty(wanted, error)) {
      return WithHint(absl::FailedPreconditionError(absl::StrCat(
                          "the demo needs a new or empty directory: path=",
                          ToAbsl(Quote(wanted, 1024)))),
                      "Name another one, or leave it out for a temporary one.");
    }
    return wanted;
  }
  const char* temp = std::getenv("TMPDIR");
  std::string path =
      absl::StrCat(temp == nullptr || *temp == '\0' ? "/tmp" : temp,
                   "/dovetail-demo-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return WithHint(absl::UnknownError(absl::StrCat(
                        "cannot make a temporary directory: path=", path)),
                    "Name one: dovetail demo DIR");
  }
  return path;
}

// For a shell, and so that it is never taken for the name of a table.
std::string ShellPath(const std::string& path) {
  std::string shown =
      path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  const bool plain =
      shown.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyz"
          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == std::string::npos;
  if (plain) return shown;
  std::string quoted = "'";
  for (const char c : shown) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// Opens the database again, as the next command will: what was still in the
// log is then in tables, and has a size.
absl::Status NoteSizes(const std::string& path, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(path, console));
  ASSIGN_OR_RETURN(const Stats stats, engine->GetStats());
  std::string text =
      absl::StrCat("size: ", BytesText(DirectoryBytes(path)), " in ", path);
  for (const IndexStats& index : stats.indexes) {
    absl::StrAppend(&text, index.index.empty() ? "; rows" : "; ", index.index,
                    " about ", BytesText(index.bytes_on_disk));
  }
  Note(console, text);
  return engine->Close();
}

class Demo {
 public:
  Demo(const DemoOptions& options, std::string path, const Console& console,
       Engine* engine)
      : options_(options),
        console_(console),
        command_(absl::StrCat(options.program, " ")),
        shell_path_(ShellPath(path)),
        path_(std::move(path)),
        engine_(engine),
        orders_(options.orders, options.seed) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Load());
    RETURN_IF_ERROR(ChangeStatuses());
    RETURN_IF_ERROR(Ask());
    return Verify();
  }

  void PrintNext() const {
    Note(console_, absl::StrCat("\nThe database stays. Try next:\n  ", command_,
                                "top ", shell_path_, " orders ",
                                "--index by_status ", Orders::SellerId(0),
                                " SHIPPED -n 10\n  ", command_, "--help"));
  }
  void PrintJson() const {
    Print(absl::StrCat(
        "{\"db\":", JsonQuote(path_), ",\"orders\":", options_.orders,
        ",\"sellers\":", orders_.sellers(), ",\"changed\":", changed_,
        ",\"load_micros\":", load_micros_,
        ",\"change_micros\":", change_micros_, ",\"rows\":", report_.rows,
        ",\"entries\":", report_.entries,
        ",\"clean\":", report_.clean() ? "true" : "false",
        ",\"bytes\":", DirectoryBytes(path_), "}\n"));
  }

 private:
  absl::Status Write(WriteBatch* batch) {
    if (Interrupted()) {
      return InterruptedError(
          absl::StrCat("interrupted; the database so far is in ", path_));
    }
    RETURN_IF_ERROR(engine_->Write({}, std::move(*batch)).status());
    batch->Clear();
    return {};
  }

  absl::Status Load() {
    Progress progress(console_);
    WriteBatch batch;
    for (uint64_t i = 0; i < options_.orders; ++i) {
      batch.Put(kTable, orders_.Make(i).SerializeAsString());
      if (batch.count() < kBatch && i + 1 < options_.orders) continue;
      RETURN_IF_ERROR(Write(&batch));
      progress.Update("loading", i + 1, options_.orders, "orders");
    }
    progress.Wipe();
    load_micros_ = progress.micros();
    Report("loaded", options_.orders, "orders of ", load_micros_);
    return {};
  }

  absl::Status ChangeStatuses() {
    static constexpr v1::OrderStatus kNext[] = {v1::SHIPPED, v1::DELIVERED,
                                                v1::RETURNED};
    Progress progress(console_);
    WriteBatch batch;
    changed_ = options_.orders / kChangeOneIn;
    for (uint64_t i = 0; i < changed_; ++i) {
      v1::Order values;
      values.set_status(kNext[orders_.Below(std::size(kNext))]);
      const std::string id = Orders::OrderId(orders_.Below(options_.orders));
      batch.Patch(kTable, RowRef::By("by_order_id", {id}),
                  values.SerializeAsString(), {"status"});
      if (batch.count() < kBatch && i + 1 < changed_) continue;
      RETURN_IF_ERROR(Write(&batch));
      progress.Update("changing", i + 1, changed_, "statuses");
    }
    progress.Wipe();
    change_micros_ = progress.micros();
    Report("changed the status of", changed_, "orders of ", change_micros_);
    return {};
  }

  void Report(std::string_view did, uint64_t count, std::string_view of,
              int64_t micros) const {
    const double seconds =
        static_cast<double>(std::max<int64_t>(micros, 1)) / 1e6;
    Note(console_, absl::StrCat(ToAbsl(did), " ", CountText(count), " ",
                                ToAbsl(of), CountText(orders_.sellers()),
                                " sellers in ", DurationText(micros), " (",
                                CountText(static_cast<uint64_t>(
                                    static_cast<double>(count) / seconds)),
                                "/s)"));
  }

  absl::Status Ask() {
    ASSIGN_OR_RETURN(const DynamicTable table,
                     DynamicTable::Bind(engine_, kTable));
    const std::string id = Orders::OrderId(options_.orders / 2);
    const std::string seller = Orders::SellerId(0);
    {
      Progress watch(console_);
      ASSIGN_OR_RETURN(const std::vector<Row> rows,
                       engine_->GetBy({}, kTable, "by_order_id", {id}));
      RETURN_IF_ERROR(Answer(
          table, "One order by its id",
          absl::StrCat("get-by ", shell_path_, " orders by_order_id ", id),
          rows, watch.micros()));
    }
    {
      Progress watch(console_);
      ScanRequest scan;
      scan.table = std::string(kTable);
      scan.equal = {seller};
      scan.limit = 5;
      ASSIGN_OR_RETURN(const Page page, engine_->Scan({}, scan));
      RETURN_IF_ERROR(
          Answer(table, "The newest orders of a seller",
                 absl::StrCat("top ", shell_path_, " orders ", seller, " -n 5"),
                 page.rows, watch.micros()));
    }
    Progress watch(console_);
    ScanRequest scan;
    scan.table = std::string(kTable);
    scan.index = "by_status";
    scan.equal = {seller, v1::SHIPPED};
    scan.limit = 5;
    ASSIGN_OR_RETURN(const Page page, engine_->Scan({}, scan));
    return Answer(
        table, "The newest of them that are shipped",
        absl::StrCat("top ", shell_path_, " orders --index by_status ", seller,
                     " SHIPPED -n 5"),
        page.rows, watch.micros());
  }

  absl::Status Answer(const DynamicTable& table, std::string_view title,
                      std::string_view command, const std::vector<Row>& rows,
                      int64_t micros) const {
    Note(console_, absl::StrCat("\n", ToAbsl(title), " (", DurationText(micros),
                                ")\n  ", command_, ToAbsl(command)));
    if (console_.format == OutputFormat::kJson) return {};
    ASSIGN_OR_RETURN(
        const TextTable text,
        RowsTable(table, rows, console_.format == OutputFormat::kBox));
    Print(text.Text(console_));
    return {};
  }

  absl::Status Verify() {
    Progress progress(console_);
    VerifyOptions verify;
    verify.progress_every = 10'000;
    verify.progress = [&progress](const VerifyProgress& p) {
      progress.Update("verifying", p.rows + p.entries, 0, "rows and entries");
      return !Interrupted();
    };
    absl::StatusOr<VerifyReport> report = engine_->Verify(verify);
    progress.Wipe();
    if (absl::IsCancelled(report.status())) {
      return InterruptedError(
          absl::StrCat("interrupted; the database is in ", path_));
    }
    RETURN_IF_ERROR(report.status());
    report_ = *std::move(report);
    Note(console_,
         absl::StrCat("\nverified in ", DurationText(progress.micros()), ": ",
                      report_.Summary()));
    if (report_.clean()) return {};
    return WithExitCode(absl::DataLossError("rows and entries disagree"),
                        ExitCode::kFindings);
  }

  const DemoOptions& options_;
  const Console& console_;
  const std::string command_;
  const std::string shell_path_;
  const std::string path_;
  Engine* const engine_;
  Orders orders_;

  uint64_t changed_ = 0;
  int64_t load_micros_ = 0;
  int64_t change_micros_ = 0;
  VerifyReport report_;
};

}  // namespace

absl::Status RunDemo(const DemoOptions& options, const Console& console) {
  if (options.orders == 0 || options.orders > kOrdersMax) {
    return UsageError(absl::StrCat("--orders is 1 to ", kOrdersMax,
                                   ": given=", options.orders));
  }
  ASSIGN_OR_RETURN(std::string path, FreshDirectory(options.db));
  Schema schema;
  schema.Add(presets::SellerOrders(kTable));
  absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Open(path, schema);
  if (!engine.ok()) return ExplainOpen(path, engine.status());
  Demo demo(options, path, console, engine->get());
  const absl::Status status = demo.Run();
  const absl::Status closed = (*engine)->Close();
  engine->reset();  // Lets go of the directory.
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(closed);
  RETURN_IF_ERROR(NoteSizes(path, console));
  if (console.format == OutputFormat::kJson) demo.PrintJson();
  demo.PrintNext();
  return {};
}

}  // namespace dovetail::cli
