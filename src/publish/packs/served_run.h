#pragma once
// From a trained run to what is served: the public pack of its user model, prototypes, basis vectors and
// average user, and the encoder that turns articles into vectors.
//
// Served are runs of two-tower models whose user side a device can compute: the flagship's catalogue, nrms,
// plm-nr, naml and fednewsrec, trained by any recipe, PrivateRec's mixtures around them included (its trained
// basis is the one in the pack); of the flagship's readers the shared part alone. Refused are models that
// keep a vector of every reader (lstur, fm), read a reader anew for every item (npa, dkn, dan, dfm) or have a
// user side that devices do not know (ebnr).
//
// Of recipes that learn from interactions without text, those are served whose devices rank by vectors of
// items (recipes/trained_factors.h): dp-svd as it is, PrivRec's network and its kin to first order in what a
// device remembers. Articles are then known by their ids: one that was not there in training stands last.

#include "device/pack/device_pack.h"
#include "recipes/recipe.h"
#include "serving/pool/serving_model.h"
#include "serving/served_run_settings.h"

namespace sotto::publish {

using serving::ServedRunSettings;

struct ServedRun {
  device::DevicePack pack;  // without items; its version names its contents
  std::shared_ptr<const serving::ItemEncoder> encoder;
};

// dataset: what the run was trained on, or another with the same categories. settings.demand_epsilon above 0:
// the run's one release of demand, made here if there is none yet (publish/run_demand.h).
Result<ServedRun> open_served_run(const fs::path& run, const data::Dataset& dataset,
                                  const ServedRunSettings& settings);

// Its encoder alone.
Result<std::shared_ptr<const serving::ItemEncoder>> open_item_encoder(const fs::path& run,
                                                                      const data::Dataset& dataset);

}  // namespace sotto::publish
