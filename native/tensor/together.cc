#include "together.h"

#include <algorithm>
#include <cstring>

#include "arguments.h"

namespace {

thread_local const Collective* executing = nullptr;

/** What each tells all others first. */
struct Announcement {
  uint64_t signature;
  /** Of the failure that follows; 0: there is none. */
  uint64_t bytes;
};
constexpr uint64_t kMostFailureBytes = 16 << 10;

/** Three texts and a rank: nobody's but another worker's, and checked as if it were. */
std::vector<uint8_t> WriteFailure(const Failure& failure) {
  std::vector<uint8_t> bytes;
  const auto put = [&](const void* data, size_t length) {
    const auto* begin = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), begin, begin + length);
  };
  put(&failure.rank, sizeof failure.rank);
  for (const std::string* text : {&failure.op, &failure.site, &failure.message}) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(text->size(), 4 << 10));
    put(&length, sizeof length);
    put(text->data(), length);
  }
  return bytes;
}

Failed ReadFailure(const std::vector<uint8_t>& bytes) {
  auto failure = std::make_shared<Failure>();
  size_t at = 0;
  const auto take = [&](size_t length) {
    if (length > bytes.size() - at) throw std::runtime_error("a failure of another process cannot be read");
    at += length;
    return bytes.data() + at - length;
  };
  std::memcpy(&failure->rank, take(sizeof failure->rank), sizeof failure->rank);
  for (std::string* text : {&failure->op, &failure->site, &failure->message}) {
    uint32_t length = 0;
    std::memcpy(&length, take(sizeof length), sizeof length);
    text->assign(reinterpret_cast<const char*>(take(length)), length);
  }
  return failure;
}

/** @returns the failure of the first of them that has one. @throws std::runtime_error when they do different things */
Failed Agree(Lines& lines, const Group& group, uint64_t signature, const Failed& own) {
  const std::vector<uint8_t> text = own ? WriteFailure(*own) : std::vector<uint8_t>();
  const Announcement mine{signature, text.size()};
  std::vector<Announcement> all(group.size(), mine);
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    departures.push_back({group.members[i], reinterpret_cast<const uint8_t*>(&mine), sizeof mine});
    arrivals.push_back({group.members[i], reinterpret_cast<uint8_t*>(&all[i]), sizeof mine});
  }
  lines.Exchange(departures, arrivals);
  std::vector<std::vector<uint8_t>> texts(group.size());
  arrivals.clear();
  for (size_t i = 0; i < group.size(); i++) {
    if (all[i].bytes > kMostFailureBytes) throw std::runtime_error("a failure of another process cannot be read");
    if (i == group.index) continue;
    texts[i].resize(all[i].bytes);
    arrivals.push_back({group.members[i], texts[i].data(), texts[i].size()});
  }
  for (auto& departure : departures) departure = {departure.peer, text.data(), text.size()};
  lines.Exchange(departures, arrivals);
  for (size_t i = 0; i < group.size(); i++) {
    if (all[i].bytes > 0) return i == group.index ? own : ReadFailure(texts[i]);
  }
  for (const auto& other : all) {
    if (other.signature != signature) throw std::runtime_error("the processes of its group do different things");
  }
  return nullptr;
}

Lines& LinesOf(const Collective& collective) {
  if (collective.lines == nullptr || collective.sizes.empty()) throw std::runtime_error("the processes of the mesh have no lines to each other");
  return *collective.lines;
}

const Collective& CurrentCollective() {
  if (executing == nullptr) throw std::runtime_error("its tensor is none of a mesh: there is nobody to exchange elements with");
  return *executing;
}

}  // namespace

Executing::Executing(const Collective& collective) {
  executing = &collective;
}

Executing::~Executing() {
  executing = nullptr;
}

Together::Together(c10::IntArrayRef along, int64_t ranks)
    : collective_(CurrentCollective()),
      lines_(LinesOf(collective_)),
      group_(GroupAlong(collective_.sizes, lines_.rank(), along.vec())) {
  if (static_cast<int64_t>(group_.size()) != ranks) throw std::runtime_error("its group has another number of processes");
}

void Together::Begin(uint64_t signature, const std::function<void()>& prepare) const {
  Failed failure;
  try {
    prepare();
  } catch (const std::exception& error) {
    failure = std::make_shared<Failure>(Failure{collective_.op, collective_.site, WhatOf(error), lines_.rank()});
  }
  failure = Agree(lines_, group_, signature, failure);
  if (failure) throw FailedTogether(failure);
}

void Together::TellFirst(void* data, size_t bytes) const {
  auto* begin = static_cast<uint8_t*>(data);
  if (group_.index != 0) return lines_.Exchange({}, {{group_.members.front(), begin, bytes}});
  std::vector<Departure> departures;
  for (size_t i = 1; i < group_.size(); i++) departures.push_back({group_.members[i], begin, bytes});
  lines_.Exchange(departures, {});
}

Failed FailTogether(const Collective& collective, const Failed& failed, const std::vector<int64_t>& along) {
  try {
    Lines& lines = LinesOf(collective);
    return Agree(lines, GroupAlong(collective.sizes, lines.rank(), along), 0, failed);
  } catch (const std::exception&) {
    // Who cannot be told finds out himself.
    return failed;
  }
}
