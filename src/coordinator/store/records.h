#pragma once
// What a coordinator remembers, as plain values. Not among it, on purpose: who was in which group, who
// checked in when, and what a single device sent. One exception: who is proven to have spoiled a group.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/document.h"

namespace sotto::coordinator {

using rounds::Digest;
using rounds::IdentityKey;
using rounds::UtcTime;

struct Enrolment {
  IdentityKey device{};
  Digest token{};  // hash of the operator's token, which serves once
  UtcTime time{};
  bool operator==(const Enrolment&) const = default;
};

enum class CampaignState : std::uint8_t { open, paused, finished };
std::string_view name(CampaignState state);

struct StoredCampaign {
  Digest hash{};
  std::string document;  // as it was signed
  CampaignState state = CampaignState::open;
  UtcTime time{};  // when it was taken in
  bool operator==(const StoredCampaign&) const = default;
};

// open → unmasking → summed → folded, and from each of the first three abandoned. An order that measures a
// version goes from unmasking to folded: its sums are kept in memory alone.
enum class OrderState : std::uint8_t { open, unmasking, summed, folded, abandoned };
std::string_view name(OrderState state);

struct StoredOrder {
  Digest round{};
  // Of the round in its campaign; an abandoned one may be ordered again. Of an order that measures: of the
  // version.
  std::uint64_t number = 0;
  Digest campaign{};
  std::string document;  // as it was signed
  OrderState state = OrderState::open;
  std::string why;         // it was abandoned
  bool evaluates = false;  // a version is measured, nothing is trained
  bool operator==(const StoredOrder&) const = default;
};

// The orders of a campaign, whatever became of them since.
struct OrderCounts {
  // Devices may have been charged for them, to train and to measure.
  std::uint64_t trained = 0, evaluated = 0;
  std::uint64_t abandoned = 0;  // of those that train
  bool operator==(const OrderCounts&) const = default;
};

// What a group has summed, before it is decoded.
struct GroupSum {
  std::uint32_t group = 0;
  std::uint64_t arrived = 0;           // devices whose vectors are in it
  std::vector<std::uint32_t> entries;  // modulo 2^bits of the campaign
  bool operator==(const GroupSum&) const = default;
};

// A device that is proven to have spoiled a group of a round: no group of the campaign takes it any more.
struct LeftOut {
  IdentityKey device{};
  Digest round{};
  bool operator==(const LeftOut&) const = default;
};

// Version 0 of a campaign is the model it starts from, version n the one that round n has made.
struct ModelVersion {
  Digest campaign{};
  std::uint64_t round = 0;
  Digest model{};                    // a blob
  std::optional<Digest> parent;      // the model it was made of; none for version 0
  std::optional<Digest> checkpoint;  // a blob: what the trainer needs beside the model to go on
  UtcTime time{};
  std::uint64_t size = 0;  // bytes of the model
  bool operator==(const ModelVersion&) const = default;
};

// How well a version ranks, by the noised sums of devices that measured it.
struct Evaluation {
  Digest campaign{};
  std::uint64_t version = 0;  // its round
  std::uint64_t devices = 0;  // in the sums
  double auc = 0, noise = 0;  // one standard error of what was added on purpose; whole billionths
  UtcTime time{};
  bool operator==(const Evaluation&) const = default;
};

// Records of the public log, as rounds::PublicLog makes them, and where they belong: whoever has not seen the
// whole log may not append to it.
struct LogAppend {
  std::uint64_t first = 0;  // records that are in the log before them
  std::vector<std::string> records;
};

// Whose word counts. Every acquisition of a lease has a higher number than the one before, and what is
// written with a lower one is refused: a process that slept through its lease can do no harm when it wakes.
struct Fence {
  std::string lease;
  std::uint64_t number = 0;
  bool operator==(const Fence&) const = default;
};

struct Lease {
  Fence fence;
  std::string owner;
  UtcTime until{};
  bool operator==(const Lease&) const = default;
};

// What a person has done by the admin API, in words.
struct AdminAction {
  UtcTime time{};
  std::string action;  // "pause", "roll back"
  std::string detail;
  bool operator==(const AdminAction&) const = default;
};

}  // namespace sotto::coordinator
