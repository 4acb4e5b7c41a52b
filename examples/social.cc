// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Five people: who knows whom, whom two have in common, and what is new.
//
//   social DIRECTORY

#include "social.h"

#include <cstdio>

namespace {

using social::Post;
using social::Relation;

template <typename List>
void Print(const char* title, const List& names) {
  std::printf("%s:", title);
  for (const std::string& name : names) std::printf(" %s", name.c_str());
  std::printf("\n");
}

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::Relations());
  schema.Add(dovetail::presets::Posts());
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto network = social::Network::Bind(engine->get());
  if (!network.ok()) return network.status();

  const std::pair<const char*, const char*> pairs[] = {
      {"ann", "ben"}, {"ann", "cem"}, {"ben", "cem"},
      {"ben", "dan"}, {"cem", "dan"}, {"dan", "eve"}};
  for (const auto& [a, b] : pairs) {
    auto done = network->Befriend(a, b, 1'700'000'000'000);
    if (!done.ok()) return done;
  }
  for (const char* author : {"ben", "eve"}) {
    // Twice is once, since the later time.
    for (int64_t ts_ms : {1, 2}) {
      auto done = network->Follow("ann", author, ts_ms);
      if (!done.ok()) return done;
    }
    for (int i = 0; i < 3; ++i) {
      Post post;
      post.set_author(author);
      post.set_post_id(author + std::to_string(i));
      post.set_ts_ms(1'700'000'000'000 + 10 * i + (author[0] == 'e' ? 5 : 0));
      if (auto written = network->Write(post); !written.ok()) return written;
    }
  }

  auto friends = network->Targets("ann", Relation::FRIEND);
  auto common = network->CommonFriends("ann", "dan");
  auto chain = network->Chain("ann", 2);
  auto followers = network->Sources("eve", Relation::FOLLOWS);
  auto feed = network->HomeFeed("ann", 4);
  if (!friends.ok()) return friends.status();
  if (!common.ok()) return common.status();
  if (!chain.ok()) return chain.status();
  if (!followers.ok()) return followers.status();
  if (!feed.ok()) return feed.status();
  Print("ann's friends", *friends);
  Print("of ann and dan", *common);
  Print("within two steps of ann", *chain);
  Print("who follows eve", *followers);
  social::Names posts;
  for (const Post& post : feed->records) posts.push_back(post.post_id());
  Print("new for ann", posts);
  return (*engine)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "social.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
