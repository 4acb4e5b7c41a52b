// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Devices and relations: generated from fixed seeds.

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/iot.h"
#include "examples/social.h"
#include "tests/acceptance/rowkeys_systems.h"

namespace dovetail::test {
namespace {

using v1::DeviceReading;
using v1::Post;
using v1::Relation;

constexpr int64_t kStart = 20'000 * iot::kDayMs;
constexpr int kDays = 4;

// ---- Devices.

class DevicesCheck {
 public:
  DevicesCheck(size_t devices, Checks* checks) : checks_(*checks) {
    std::mt19937_64 random(20'260'302);
    for (size_t d = 0; d < devices; ++d) {
      for (int64_t ts = kStart; ts < kStart + kDays * iot::kDayMs;) {
        DeviceReading reading;
        reading.set_device_type(d % 3 == 0 ? "gate" : "thermometer");
        reading.set_region(absl::StrCat("r", d % 5));
        reading.set_device(absl::StrCat("d", d));
        reading.set_ts_ms(ts);
        reading.set_day(iot::DayOf(ts));
        reading.set_value(static_cast<double>(random() % 1000) / 10);
        all_.push_back(std::move(reading));
        ts += 300'000 + static_cast<int64_t>(random() % 1'200) * 1'000;
      }
    }
  }

  void Run();

 private:
  // Of the readings that `test` holds for, in the order of `key`.
  template <typename Test, typename Key>
  std::vector<std::string> Expected(const Test& test, const Key& key,
                                    size_t limit) const {
    std::vector<const DeviceReading*> found;
    for (const DeviceReading& r : all_) {
      if (test(r)) found.push_back(&r);
    }
    std::sort(found.begin(), found.end(),
              [&](const auto* a, const auto* b) { return key(*a) < key(*b); });
    found.resize(std::min(found.size(), limit));
    std::vector<std::string> records;
    for (const auto* r : found) records.push_back(r->SerializeAsString());
    return records;
  }
  void Compare(const std::vector<std::string>& expected,
               const absl::StatusOr<iot::Readings>& actual,
               std::string_view what) {
    if (!checks_.Ok(actual.status(), what)) return;
    std::vector<std::string> records;
    for (const DeviceReading& r : actual->records) {
      records.push_back(r.SerializeAsString());
    }
    checks_.That(records == expected,
                 absl::StrCat("devices: ", ToAbsl(what), ": rows=",
                              records.size(), " expected=", expected.size()));
  }
  void Ask(iot::Station* station);
  void Expire(iot::Station* station);

  Checks& checks_;
  SystemDatabase db_;
  std::vector<DeviceReading> all_;
};

auto NewestFirst(const DeviceReading& r) {
  return std::tuple(-r.ts_ms(), r.device_type(), r.region(), r.device());
}

void DevicesCheck::Ask(iot::Station* station) {
  const int64_t noon = kStart + iot::kDayMs + iot::kDayMs / 2;
  const Range morning = {.min = noon - iot::kDayMs / 2, .max = noon};
  const auto in_morning = [&](const DeviceReading& r) {
    return r.ts_ms() >= noon - iot::kDayMs / 2 && r.ts_ms() <= noon;
  };
  for (const char* device : {"d0", "d1", "d7"}) {
    const auto is_device = [&](const DeviceReading& r) {
      return r.device() == device && in_morning(r);
    };
    const auto some =
        std::find_if(all_.begin(), all_.end(),
                     [&](const auto& r) { return r.device() == device; });
    Compare(Expected(is_device, NewestFirst, 50),
            station->OfDevice(some->device_type(), some->region(), device,
                              morning, 50),
            "a device's morning");
  }
  const auto by_device = [](const DeviceReading& r) {
    return std::tuple(r.region(), r.device(), -r.ts_ms());
  };
  Compare(Expected(
              [](const DeviceReading& r) {
                return r.device_type() == "gate" && r.region() == "r3";
              },
              by_device, SIZE_MAX),
          station->OfType({"gate", "r3"}, UINT64_MAX), "a type in a region");
  Compare(
      Expected([](const DeviceReading& r) { return r.device_type() == "gate"; },
               by_device, SIZE_MAX),
      station->OfType({"gate"}, UINT64_MAX), "a type");
  Compare(Expected(
              [&](const DeviceReading& r) {
                return r.region() == "r1" && in_morning(r);
              },
              NewestFirst, 100),
          station->OfRegion("r1", morning, 100), "a region's morning");
  const auto between = station->Between(noon - iot::kDayMs, noon, 500);
  if (!checks_.Ok(between.status(), "devices: between")) return;
  std::vector<std::string> records;
  for (const Row& row : between->rows) records.push_back(row.record);
  checks_.That(records == Expected(
                              [&](const DeviceReading& r) {
                                return r.ts_ms() >= noon - iot::kDayMs &&
                                       r.ts_ms() <= noon;
                              },
                              NewestFirst, 500),
               "devices: of all devices between two times");
}

void DevicesCheck::Expire(iot::Station* station) {
  const int32_t day = iot::DayOf(kStart) + 2;
  const size_t before = all_.size();
  std::erase_if(all_, [&](const DeviceReading& r) { return r.day() < day; });
  const auto expired = station->ExpireBefore(day);
  if (!checks_.Ok(expired.status(), "devices: expire")) return;
  checks_.Equal(*expired, before - all_.size(), "devices: expired readings");
  const auto again = station->ExpireBefore(day);
  checks_.Equal(again.value_or(1), uint64_t{0}, "devices: expired again");
}

void DevicesCheck::Run() {
  absl::Status ready = db_.Open(Schema().Add(presets::DeviceReadings()));
  if (!checks_.Ok(ready, "devices: open")) return;
  auto station = iot::Station::Bind(db_.engine.get());
  if (!checks_.Ok(station.status(), "devices: bind")) return;
  for (size_t i = 0; i < all_.size(); i += 500) {
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(all_.size(), i + 500));
    ready =
        station->Record({all_.begin() + static_cast<std::ptrdiff_t>(i), end});
    if (!checks_.Ok(ready, "devices: record")) return;
  }
  const size_t readings = all_.size();
  Ask(&*station);
  Expire(&*station);
  Ask(&*station);
  db_.Verify("devices", &checks_);
  std::printf("devices: %zu readings, generated; %zu not expired\n", readings,
              all_.size());
}

// ---- Relations and posts.

class SocialCheck {
 public:
  SocialCheck(size_t users, Checks* checks) : users_(users), checks_(*checks) {}

  void Run();

 private:
  std::string User(size_t i) const { return absl::StrCat("u", i % users_); }
  absl::Status Fill(social::Network* network);
  void Ask(const social::Network& network, const std::string& a,
           const std::string& b);
  std::set<std::string> Within(const std::string& user, int steps) const;

  const size_t users_;
  Checks& checks_;
  SystemDatabase db_;
  std::map<std::string, std::set<std::string>> friends_;
  std::map<std::string, std::set<std::string>> follows_;
  std::map<std::string, std::set<std::string>> followed_by_;
  std::vector<Post> posts_;
};

// A few users know very many, as ever.
absl::Status SocialCheck::Fill(social::Network* network) {
  std::mt19937_64 random(4'711);
  const auto skewed = [&] {
    const size_t n = random() % users_;
    return User(n * (random() % users_) / users_);
  };
  for (size_t i = 0; i < users_ * 8; ++i) {
    const std::string a = User(random());
    const std::string b = skewed();
    if (a == b) continue;
    const auto ts = static_cast<int64_t>(i);
    absl::Status done;
    if (i % 2 == 0) {
      done = network->Befriend(a, b, ts);
      friends_[a].insert(b);
      friends_[b].insert(a);
    } else {
      done = network->Follow(a, b, ts);
      follows_[a].insert(b);
      followed_by_[b].insert(a);
    }
    if (!done.ok()) return done;
  }
  for (size_t i = 0; i < users_ * 10; ++i) {
    Post post;
    post.set_author(skewed());
    post.set_post_id(absl::StrCat("p", i));
    post.set_ts_ms(static_cast<int64_t>(random() % (users_ * 4)));
    posts_.push_back(post);
    if (absl::Status written = network->Write(post); !written.ok()) {
      return written;
    }
  }
  return absl::OkStatus();
}

std::set<std::string> SocialCheck::Within(const std::string& user,
                                          int steps) const {
  std::map<std::string, int> distance = {{user, 0}};
  std::deque<std::string> queue = {user};
  while (!queue.empty()) {
    const std::string at = queue.front();
    queue.pop_front();
    const auto known = friends_.find(at);
    if (distance[at] == steps || known == friends_.end()) continue;
    for (const std::string& next : known->second) {
      if (distance.emplace(next, distance[at] + 1).second) {
        queue.push_back(next);
      }
    }
  }
  std::set<std::string> reached;
  for (const auto& [name, steps_to] : distance) reached.insert(name);
  reached.erase(user);
  return reached;
}

void SocialCheck::Ask(const social::Network& network, const std::string& a,
                      const std::string& b) {
  const auto list = [](const std::set<std::string>& names) {
    return social::Names(names.begin(), names.end());
  };
  const std::set<std::string>& mine = friends_[a];
  const std::set<std::string>& theirs = friends_[b];
  checks_.That(network.Targets(a, Relation::FRIEND).value_or(social::Names{}) ==
                   list(mine),
               absl::StrCat("social: friends of ", a));
  checks_.That(
      network.Sources(a, Relation::FOLLOWS).value_or(social::Names{}) ==
          list(followed_by_[a]),
      absl::StrCat("social: who follows ", a));
  social::Names common;
  std::set_intersection(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                        std::back_inserter(common));
  checks_.That(
      network.CommonFriends(a, b).value_or(social::Names{"?"}) == common,
      absl::StrCat("social: friends of ", a, " and ", b));
  checks_.That(
      network.Chain(a, 2).value_or(std::set<std::string>{"?"}) == Within(a, 2),
      absl::StrCat("social: two steps from ", a));

  std::vector<const Post*> feed;
  for (const Post& post : posts_) {
    if (follows_[a].contains(post.author())) feed.push_back(&post);
  }
  std::sort(feed.begin(), feed.end(), [](const Post* x, const Post* y) {
    return std::tuple(-x->ts_ms(), x->post_id()) <
           std::tuple(-y->ts_ms(), y->post_id());
  });
  std::vector<std::string> expected;
  for (const Post* post : feed) expected.push_back(post->post_id());
  std::vector<std::string> actual;
  std::string continuation;
  do {
    const auto page = network.HomeFeed(a, 9, continuation);
    if (!checks_.Ok(page.status(), "social: feed")) return;
    for (const Post& post : page->records) actual.push_back(post.post_id());
    continuation = page->continuation;
  } while (!continuation.empty());
  checks_.That(actual == expected, absl::StrCat("social: feed of ", a));
}

void SocialCheck::Run() {
  absl::Status ready =
      db_.Open(Schema().Add(presets::Relations()).Add(presets::Posts()));
  if (!checks_.Ok(ready, "social: open")) return;
  auto network = social::Network::Bind(db_.engine.get());
  if (!checks_.Ok(network.status(), "social: bind")) return;
  if (!checks_.Ok(Fill(&*network), "social: fill")) return;
  for (size_t i = 0; i < std::min<size_t>(users_, 60); ++i) {
    Ask(*network, User(i), User(i * 7 + 1));
  }
  db_.Verify("social", &checks_);
  size_t relations = 0;
  for (const auto& [user, names] : friends_) relations += names.size();
  for (const auto& [user, names] : follows_) relations += names.size();
  std::printf("social: %zu users, %zu relations, %zu posts, generated\n",
              users_, relations, posts_.size());
}

}  // namespace

void CheckDevices(size_t devices, Checks* checks) {
  DevicesCheck(devices, checks).Run();
}

void CheckSocial(size_t users, Checks* checks) {
  SocialCheck(users, checks).Run();
}

}  // namespace dovetail::test
