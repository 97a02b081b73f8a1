#include "publish/run_demand.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/log.h"
#include "serving/run_privacy.h"

namespace sotto::publish {

using nlohmann::json;

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

// FNV-1a over the items' names.
std::uint64_t digest_of(const data::Catalogue& catalogue) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 1099511628211ULL; };
  for (std::size_t i = 0; i < catalogue.size(); ++i) {
    for (const char letter : std::string_view(catalogue.ids[i])) add(static_cast<unsigned char>(letter));
    add(0);
  }
  return hash;
}

// Held until destruction by whoever may release.
Result<Descriptor> lock_charges(const fs::path& file) {
  SOTTO_TRY(auto charges, Descriptor::open(file, O_RDWR | O_CREAT, "open", 0666));
  if (::flock(charges.number(), LOCK_EX) != 0) return failed("cannot lock {}", file.string());
  return charges;
}

Status charge(const Descriptor& charges, const fs::path& file, double epsilon) {
  const auto end = ::lseek(charges.number(), 0, SEEK_END);
  if (end < 0) return failed("cannot read {}", file.string());
  SOTTO_CHECK(charges.write(json{{"epsilon", epsilon}}.dump() + "\n", static_cast<std::uint64_t>(end), file));
  if (::fsync(charges.number()) != 0) return failed("cannot write {}: is the disk full?", file.string());
  return {};
}

Status store(const fs::path& file, const Demand& demand, double epsilon, const data::Catalogue& catalogue) {
  const json stored = {{"epsilon", epsilon},
                       {"catalogue", digest_of(catalogue)},
                       {"groups", demand.group_of},
                       {"shares", demand.shares}};
  return write_file_atomically(file, stored.dump() + "\n");
}

Result<Demand> stored_demand(const fs::path& file, double epsilon, const data::Catalogue& catalogue) {
  constexpr std::string_view advice =
      "remove it to release the demand again, which the readers pay for again";
  SOTTO_TRY(const auto text, read_file(file, most_bytes));
  const json stored = json::parse(text, nullptr, false);
  Demand demand;
  double released = 0;
  try {
    released = stored.at("epsilon").get<double>();
    if (stored.at("catalogue").get<std::uint64_t>() != digest_of(catalogue))
      return bad_input(
          "{} was released for another catalogue: serve the run with the data it was made from, "
          "or {}",
          file.string(), advice);
    demand.group_of = stored.at("groups").get<std::vector<std::uint32_t>>();
    demand.shares = stored.at("shares").get<std::vector<double>>();
  } catch (const json::exception&) {
    return bad_input("{} is damaged: {}", file.string(), advice);
  }
  const bool whole = demand.group_of.size() == catalogue.size() && !demand.shares.empty() &&
                     std::all_of(demand.group_of.begin(), demand.group_of.end(),
                                 [&](std::uint32_t group) { return group < demand.shares.size(); }) &&
                     std::all_of(demand.shares.begin(), demand.shares.end(),
                                 [](double share) { return share > 0 && share <= 1; });
  if (!whole) return bad_input("{} is damaged: {}", file.string(), advice);
  if (released != epsilon)
    return bad_input("{} was released with epsilon {:g}, not {:g}: ask for --demand-epsilon {:g}, or {}",
                     file.string(), released, epsilon, released, advice);
  return demand;
}

}  // namespace

Result<Demand> demand_of_run(const fs::path& run, const data::Dataset& dataset, const Rows& items,
                             const ReaderSettings& settings, std::uint64_t seed) {
  const fs::path file = run / "demand.json", charges = run / serving::demand_charges_file;
  if (fs::exists(file)) return stored_demand(file, settings.demand_epsilon, dataset.catalogue());
  SOTTO_TRY(const Descriptor lock, lock_charges(charges));
  if (!fs::exists(file)) {  // nobody else has released it while this process waited
    SOTTO_TRY(const auto before, serving::demand_charges(run));
    SOTTO_CHECK(charge(lock, charges, settings.demand_epsilon));
    if (before.releases > 0)
      warn("{} is not there, but demand was released before: this is release {}, epsilon {:g} in all",
           file.string(), before.releases + 1, before.epsilon + settings.demand_epsilon);
    SOTTO_TRY(const Demand drawn,
              release_demand(dataset, items, settings, seed, privacy::NoiseOrigin::secret()));
    SOTTO_CHECK(store(file, drawn, settings.demand_epsilon, dataset.catalogue()));
  }
  return stored_demand(file, settings.demand_epsilon, dataset.catalogue());
}

}  // namespace sotto::publish
