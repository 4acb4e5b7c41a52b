// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Your own schema and observer, tested with the test kit: every file call of a
// script fails in turn, the power is cut between, and each time the database
// that is left is compared with the reference model.
//
//   test_own_schema DIRECTORY

#include <cstdio>
#include <string>

#include "dovetail/testing.h"
#include "shipment.pb.h"

using dovetail::Field;
using example::Shipment;

// The observer under test: no shipment without a carrier.
class CarrierIsGiven : public dovetail::Observer {
 public:
  dovetail::ObserverTraits traits() const override {
    return {.name = "carrier_is_given", .hooks = dovetail::kPrePut};
  }
  static absl::Status Check(std::string_view record) {
    Shipment shipment;
    shipment.ParseFromString(std::string(record));
    if (!shipment.carrier().empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("no carrier");
  }
  absl::Status PrePut(dovetail::HookContext&,
                      const dovetail::RowChange& change) override {
    return Check(*change.new_record);
  }
};

// Request `i`: shipments come, change their country, and lack a carrier.
dovetail::WriteBatch Request(int i) {
  Shipment shipment;
  shipment.set_waybill("W-" + std::to_string(i % 8));
  shipment.set_carrier(i % 11 == 0 ? "" : "postal");
  shipment.mutable_ship_to()->set_country(i % 3 == 0 ? "BR" : "DE");
  return dovetail::WriteBatch().Put("shipments", shipment.SerializeAsString());
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  dovetail::test::CrashTest test;
  test.schema.Add(dovetail::TableBuilder("shipments", Shipment::descriptor())
                      .RowKey({Field("waybill")})
                      .Index("by_country", {Field("ship_to.country")}));
  test.directory = argv[1];
  test.options = [](const std::string&) {
    return dovetail::Options{.observers = {std::make_shared<CarrierIsGiven>()}};
  };
  test.script = [](dovetail::test::ScriptRun& run) -> absl::Status {
    for (int i = 1; i <= 30; ++i) {
      auto commit = run.Write({.sync = i % 5 == 0}, Request(i));
      if (i % 11 == 0 && absl::IsInvalidArgument(commit.status())) continue;
      if (!commit.ok()) return commit.status();
    }
    return absl::OkStatus();
  };
  // The model knows no observers: what this one does is said once more.
  test.predict = [](const dovetail::WriteBatch& batch, uint64_t sequence,
                    dovetail::test::Model* model)
      -> absl::StatusOr<std::vector<uint64_t>> {
    const absl::Status allowed =
        CarrierIsGiven::Check(batch.mutations()[0].record);
    if (!allowed.ok()) return allowed;
    return model->Apply(batch, sequence);
  };
  auto report = dovetail::test::RunCrashTest(test);
  if (!report.ok()) {
    std::fprintf(stderr, "%s\n", report.status().ToString().c_str());
    return 1;
  }
  std::printf("%llu calls failed, %llu outcomes of power cuts: %llu failures\n",
              (unsigned long long)report->failed_once + report->failed_for_good,
              (unsigned long long)report->power_cuts,
              (unsigned long long)report->failure_count);
  for (const std::string& failure : report->failures) {
    std::printf("%s\n", failure.c_str());
  }
  return report->failure_count == 0 ? 0 : 1;
}
