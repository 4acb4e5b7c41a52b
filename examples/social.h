// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Who knows whom, and what they wrote. Relations have the row key hash(user)
// user relation target ts(desc): a user's friends are one range, in the order
// of their names, so that what two users have in common is found by stepping
// through both ranges, each past what the other lacks. Posts have hash(author)
// author ts(desc) post_id: the home feed of a user is a merge over the authors
// that it follows, and nothing is copied when somebody posts.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/social.pb.h"

namespace social {

using dovetail::v1::Post;
using dovetail::v1::Relation;
using Names = std::vector<std::string>;

// Thread-safe; the engine must outlive it.
class Network {
 public:
  static absl::StatusOr<Network> Bind(dovetail::Engine* engine) {
    auto relations = dovetail::Table<Relation>::Bind(engine, "relations");
    auto posts = dovetail::Table<Post>::Bind(engine, "posts");
    if (!relations.ok()) return relations.status();
    if (!posts.ok()) return posts.status();
    return Network(engine, *std::move(relations), *std::move(posts));
  }

  // Both directions in one commit.
  absl::Status Befriend(const std::string& a, const std::string& b,
                        int64_t ts_ms) {
    dovetail::WriteBatch batch;
    batch.Put("relations", Make(a, Relation::FRIEND, b, ts_ms))
        .Put("relations", Make(b, Relation::FRIEND, a, ts_ms));
    return engine_->Write({}, std::move(batch)).status();
  }
  absl::Status Follow(const std::string& user, const std::string& target,
                      int64_t ts_ms) {
    dovetail::WriteBatch batch;
    batch.Put("relations", Make(user, Relation::FOLLOWS, target, ts_ms));
    return engine_->Write({}, std::move(batch)).status();
  }
  absl::Status Write(const Post& post) { return posts_.Put(post).status(); }

  // Whom the user has in this relation, by name.
  absl::StatusOr<Names> Targets(const std::string& user,
                                Relation::Kind relation) const {
    Names names;
    auto end =
        relations_.ForEach({.equal = {user, relation}, .limit = UINT64_MAX},
                           [&](const Relation& r) {
                             names.push_back(r.target());
                             return true;
                           });
    if (!end.ok()) return end.status();
    return names;
  }
  // The way back: who has the user as a target.
  absl::StatusOr<Names> Sources(const std::string& target,
                                Relation::Kind relation) const {
    Names names;
    auto end = relations_.ForEach({.index = "by_target",
                                   .equal = {target, relation},
                                   .limit = UINT64_MAX},
                                  [&](const Relation& r) {
                                    names.push_back(r.user());
                                    return true;
                                  });
    if (!end.ok()) return end.status();
    return names;
  }

  // Friends of both, by name, without reading the whole of a long list.
  absl::StatusOr<Names> CommonFriends(const std::string& a,
                                      const std::string& b) const {
    Names common;
    Cursor x(&relations_, a);
    Cursor y(&relations_, b);
    absl::Status read = x.SeekTo("");
    if (read.ok() && x.valid()) read = y.SeekTo(x.name());
    while (read.ok() && x.valid() && y.valid()) {
      if (x.name() < y.name()) {
        read = x.SeekTo(y.name());
      } else if (y.name() < x.name()) {
        read = y.SeekTo(x.name());
      } else {
        common.push_back(x.name());
        read = x.SeekTo(x.name() + '\0');
      }
    }
    if (!read.ok()) return read;
    return common;
  }

  // Everybody within so many steps from friend to friend, the user excluded.
  absl::StatusOr<std::set<std::string>> Chain(const std::string& user,
                                              int steps) const {
    std::set<std::string> reached = {user};
    Names border = {user};
    for (int i = 0; i < steps; ++i) {
      Names next;
      for (const std::string& name : border) {
        auto friends = Targets(name, Relation::FRIEND);
        if (!friends.ok()) return friends.status();
        for (std::string& f : *friends) {
          if (reached.insert(f).second) next.push_back(std::move(f));
        }
      }
      border = std::move(next);
    }
    reached.erase(user);
    return reached;
  }

  // The newest posts of all whom the user follows; Limits::merge_streams_max of
  // them at most.
  absl::StatusOr<dovetail::RecordPage<Post>> HomeFeed(
      const std::string& user, uint64_t limit,
      const std::string& continuation = {}) const {
    auto authors = Targets(user, Relation::FOLLOWS);
    if (!authors.ok()) return authors.status();
    if (authors->empty()) return dovetail::RecordPage<Post>();
    return posts_.Scan({.any_of = {authors->begin(), authors->end()},
                        .limit = limit,
                        .continuation = continuation});
  }

 private:
  // A user's friends in the order of their names, a page at a time.
  class Cursor {
   public:
    Cursor(const dovetail::Table<Relation>* relations, std::string user)
        : relations_(relations), user_(std::move(user)) {}

    bool valid() const { return at_ < page_.size(); }
    const std::string& name() const { return page_[at_].target(); }

    // To the first name that is not below `name`.
    absl::Status SeekTo(const std::string& name) {
      const std::string from = name;  // It may be of this page.
      while (valid() && this->name() < from) ++at_;
      if (valid() || end_) return absl::OkStatus();
      auto page = relations_->Scan({.equal = {user_, Relation::FRIEND},
                                    .range = dovetail::Range{.min = from},
                                    .limit = 16});
      if (!page.ok()) return page.status();
      end_ = page->continuation.empty();
      page_ = std::move(page->records);
      at_ = 0;
      return absl::OkStatus();
    }

   private:
    const dovetail::Table<Relation>* relations_;
    std::string user_;
    std::vector<Relation> page_;
    size_t at_ = 0;
    bool end_ = false;
  };

  Network(dovetail::Engine* engine, dovetail::Table<Relation> relations,
          dovetail::Table<Post> posts)
      : engine_(engine),
        relations_(std::move(relations)),
        posts_(std::move(posts)) {}

  static std::string Make(const std::string& user, Relation::Kind relation,
                          const std::string& target, int64_t ts_ms) {
    Relation r;
    r.set_user(user);
    r.set_relation(relation);
    r.set_target(target);
    r.set_ts_ms(ts_ms);
    return r.SerializeAsString();
  }

  dovetail::Engine* engine_;
  dovetail::Table<Relation> relations_;
  dovetail::Table<Post> posts_;
};

}  // namespace social
