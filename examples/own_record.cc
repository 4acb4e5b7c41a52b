// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Your own record, keys and observer: shipments by waybill, listed by country
// and time, with a unique customs id that may be missing, and a rule that no
// shipment changes its waybill's carrier once it is under way.
//
//   own_record DIRECTORY

#include <cstdio>
#include <memory>
#include <string>

#include "dovetail/engine.h"
#include "dovetail/observer.h"
#include "dovetail/table.h"
#include "shipment.pb.h"

namespace {

using dovetail::Field;
using dovetail::Hash;
using example::Shipment;

dovetail::TableBuilder Shipments() {
  return dovetail::TableBuilder("shipments", Shipment::descriptor())
      .RowKey({Hash({"waybill"}, dovetail::v1::MD5, 2), Field("waybill")})
      .Index("by_country", {Field("ship_to.country"),
                            Field("handed_over").Desc(), Field("waybill")})
      // Null, and so without an entry, for shipments that cross no border.
      .Unique("by_customs_id", {Field("customs_id")});
}

// Vetoes a change of carrier. A veto undoes its whole request.
class CarrierStays : public dovetail::Observer {
 public:
  dovetail::ObserverTraits traits() const override {
    return {.name = "carrier_stays", .hooks = dovetail::kPrePut};
  }
  absl::Status PrePut(dovetail::HookContext&,
                      const dovetail::RowChange& change) override {
    if (!change.old_record.has_value()) return absl::OkStatus();
    Shipment before;
    Shipment after;
    before.ParseFromString(std::string(*change.old_record));
    after.ParseFromString(std::string(*change.new_record));
    if (before.carrier() == after.carrier()) return absl::OkStatus();
    return absl::FailedPreconditionError("shipment is with " +
                                         before.carrier() + " already");
  }
};

Shipment MakeShipment(const std::string& waybill, const std::string& country,
                      int64_t seconds) {
  Shipment shipment;
  shipment.set_waybill(waybill);
  shipment.set_carrier("postal");
  shipment.mutable_handed_over()->set_seconds(seconds);
  shipment.mutable_ship_to()->set_country(country);
  return shipment;
}

int Run(const char* directory) {
  dovetail::Options options;
  options.observers = {std::make_shared<CarrierStays>()};
  auto engine = dovetail::Engine::Open(
      directory, dovetail::Schema().Add(Shipments()), options);
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  auto table = dovetail::Table<Shipment>::Bind(engine->get(), "shipments");
  if (!table.ok()) return 1;

  Shipment abroad = MakeShipment("W-2", "BR", 200);
  abroad.set_customs_id("C-77");
  for (const Shipment& shipment : {MakeShipment("W-1", "BR", 100), abroad,
                                   MakeShipment("W-3", "DE", 300)}) {
    if (!table->Put(shipment).ok()) return 1;
  }

  auto brazil = table->Scan({.index = "by_country", .equal = {"BR"}});
  if (!brazil.ok()) return 1;
  std::printf("to Brazil, newest first:");
  for (const Shipment& s : brazil->records) {
    std::printf(" %s", s.waybill().c_str());
  }
  auto customs = table->GetBy("by_customs_id", {"C-77"});
  if (!customs.ok() || customs->empty()) return 1;
  std::printf("\ncustoms id C-77: %s\n", customs->front().waybill().c_str());

  abroad.set_carrier("courier");
  std::printf("change of carrier: %s\n",
              table->Put(abroad).status().ToString().c_str());
  return (*engine)->Close().ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: own_record DIRECTORY\n");
    return 2;
  }
  return Run(argv[1]);
}
