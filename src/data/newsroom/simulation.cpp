#include "data/newsroom/simulation.h"

#include <algorithm>
#include <cmath>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "data/newsroom/reader.h"

namespace sotto::data::newsroom {
namespace {

constexpr std::size_t readers_per_chunk = 256;
constexpr double training_impressions = 3;  // per reader, over all training days
constexpr double test_impressions = 1;      // per reader
constexpr double another_click = 0.36;      // about 1.5 clicks per impression, as in MIND
// Histories are read off the front page: a longer list than most impressions, and more clicks per visit.
constexpr std::uint32_t front_page = 60;
constexpr double another_front_page_click = 2.0 / 3;
constexpr double clicks_per_visit = 3;
constexpr int first_history_day = 2;       // the shelf has to fill first
constexpr double doubt_about_history = 3;  // the history oracle trusts n clicks by n / (n + 3)

// Arrivals of a Poisson process within `mean`: the gaps are exponential.
int poisson(RandomSource& random, double mean) {
  int count = 0;
  double elapsed = exponential(random);
  while (elapsed <= mean) {
    ++count;
    elapsed += exponential(random);
  }
  return count;
}

// Reads for one reader after the other and appends to a chunk.
class ReadingRoom {
 public:
  ReadingRoom(const World& world, const NewsroomSettings& settings, const ThemeSampler& themes,
              ReaderChunk& chunk)
      : world_(world),
        settings_(settings),
        themes_(themes),
        chunk_(chunk),
        shelf_(world.items),
        draw_clicks_(settings.position_bias) {}

  void read(std::uint32_t user) {
    user_ = user;
    SeededRandom random = stream(0);
    const ReaderProfile reader = draw_reader(world_, themes_, settings_, random);
    const std::vector<int> sessions = plan_sessions(reader, random);
    Occupation occupation(themes_, random);
    category_interest_ = mean_per_category(reader.long_term);
    past_themes_.assign(world_.themes.size(), 0.0F);
    first_click_ = chunk_.clicks.size();
    shelf_.next_reader();

    for (int day = 0; day < world_.calendar.all_days(); ++day) {
      SeededRandom day_random = stream(static_cast<std::uint32_t>(day) + 1);
      occupation.next_day(day_random);
      if (sessions[static_cast<std::size_t>(day)] == 0) continue;
      set_desire(reader, occupation.theme());
      read_day(day, sessions[static_cast<std::size_t>(day)], reader.history_length, day_random);
    }
    chunk_.click_offsets.push_back(static_cast<std::uint32_t>(chunk_.clicks.size()));
  }

 private:
  SeededRandom stream(std::uint32_t round) const {
    return {static_cast<std::uint64_t>(settings_.seed), Purpose::newsroom_user, round, user_};
  }

  // Impressions per day. History sessions are spread over the history days; everyone is recorded at least
  // once.
  std::vector<int> plan_sessions(const ReaderProfile& reader, RandomSource& random) const {
    std::vector<int> sessions(static_cast<std::size_t>(world_.calendar.all_days()), 0);
    const int history_sessions =
        static_cast<int>(std::ceil(static_cast<double>(reader.history_length) / clicks_per_visit));
    for (int i = 0; i < history_sessions; ++i)
      ++sessions[first_history_day + uniform_below(random, history_days - first_history_day)];
    const auto recorded_days = static_cast<std::uint64_t>(world_.calendar.recorded_days);
    int recorded = 0;
    const auto add = [&](std::uint64_t day) {
      if (static_cast<int>(day) < reader.first_day) return;
      ++sessions[day];
      ++recorded;
    };
    for (int i = poisson(random, training_impressions * reader.activity); i > 0; --i)
      add(history_days + uniform_below(random, recorded_days - 1));
    for (int i = poisson(random, test_impressions * reader.activity); i > 0; --i) add(sessions.size() - 1);
    if (recorded == 0) {
      const auto first = static_cast<std::uint64_t>(std::max(reader.first_day, history_days));
      add(first + uniform_below(random, sessions.size() - first));
    }
    return sessions;
  }

  void read_day(int day, int sessions, std::uint32_t history_length, RandomSource& random) {
    std::vector<Seconds> times(static_cast<std::size_t>(sessions));
    for (Seconds& time : times) time = moment(random, day, 6, 24);
    std::sort(times.begin(), times.end());
    for (const Seconds time : times) {
      if (day < history_days)
        visit_front_page(time, history_length, random);
      else if (open_list(time, draw_impression_size(random), random)) {
        click(draw_click_count(list_size(), another_click, random), random);
        record(time, day == world_.calendar.test_day());
        remember_clicks();
      }
    }
  }

  void visit_front_page(Seconds time, std::uint32_t history_length, RandomSource& random) {
    const auto left = history_length - std::min(history_length, past_clicks());
    if (left == 0 || !open_list(time, front_page, random)) return;
    click(std::min(left, draw_click_count(list_size(), another_front_page_click, random)), random);
    remember_clicks();
  }

  // Fills candidates_ and utilities_; false when there is nothing to choose from.
  bool open_list(Seconds time, std::uint32_t wanted, RandomSource& random) {
    shelf_.draw(time, wanted, random, candidates_);
    if (candidates_.size() < 2) return false;
    utilities_.resize(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Item& item = world_.items[candidates_[i]];
      utilities_[i] = dot(desire_, item.mix) + popularity(settings_, item, time);
    }
    return true;
  }

  void click(std::uint32_t clicks, RandomSource& random) {
    clicked_.resize(candidates_.size());
    draw_clicks_(utilities_, clicks, random, clicked_);
  }

  std::uint32_t list_size() const { return static_cast<std::uint32_t>(candidates_.size()); }
  std::uint32_t past_clicks() const {
    return static_cast<std::uint32_t>(chunk_.clicks.size() - first_click_);
  }

  void record(Seconds time, bool test) {
    chunk_.impressions.push_back({user_, time, past_clicks(), static_cast<std::uint32_t>(chunk_.shown.size()),
                                  list_size(), test, static_cast<std::uint32_t>(chunk_.scores.size())});
    chunk_.shown.insert(chunk_.shown.end(), candidates_.begin(), candidates_.end());
    chunk_.clicked.insert(chunk_.clicked.end(), clicked_.begin(), clicked_.end());
    if (!test) return;
    const double past = past_clicks();
    const float most = *std::max_element(past_themes_.begin(), past_themes_.end());
    const double trust = most > 0 ? settings_.interest * past / (past + doubt_about_history) / most : 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Item& item = world_.items[candidates_[i]];
      const float popular = popularity(settings_, item, time);
      chunk_.scores.push_back({utilities_[i],
                               static_cast<float>(trust) * dot(past_themes_, item.mix) + popular,
                               category_interest_[item.category] + popular, popular});
    }
  }

  void remember_clicks() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (clicked_[i] == 0) continue;
      const ThemeMix& mix = world_.items[candidates_[i]].mix;
      past_themes_[mix.primary] += mix.primary_share;
      past_themes_[mix.secondary] += 1 - mix.primary_share;
      shelf_.mark_read(candidates_[i]);
      chunk_.clicks.push_back(candidates_[i]);
    }
  }

  void set_desire(const ReaderProfile& reader, std::uint32_t occupied_by) {
    desire_.resize(reader.long_term.size());
    std::transform(reader.long_term.begin(), reader.long_term.end(), desire_.begin(),
                   [&](float held) { return static_cast<float>(settings_.interest) * held; });
    desire_[occupied_by] += static_cast<float>(settings_.drift);
  }

  std::vector<float> mean_per_category(std::span<const float> long_term) const {
    std::vector<float> sums(world_.categories.size(), 0.0F), counts(world_.categories.size(), 0.0F);
    for (std::size_t theme = 0; theme < long_term.size(); ++theme) {
      sums[world_.themes[theme].category] += static_cast<float>(settings_.interest) * long_term[theme];
      counts[world_.themes[theme].category] += 1;
    }
    for (std::size_t category = 0; category < sums.size(); ++category)
      sums[category] /= std::max(counts[category], 1.0F);
    return sums;
  }

  const World& world_;
  const NewsroomSettings& settings_;
  const ThemeSampler& themes_;
  ReaderChunk& chunk_;
  Shelf shelf_;
  ClickDrawer draw_clicks_;

  std::uint32_t user_ = 0;
  std::size_t first_click_ = 0;              // of the present reader
  std::vector<float> desire_, past_themes_;  // per theme
  std::vector<float> category_interest_;     // per category
  std::vector<std::uint32_t> candidates_;    // of the present impression
  std::vector<float> utilities_;
  std::vector<std::uint8_t> clicked_;
};

template <class T>
std::span<const T> part(const std::vector<T>& values, std::size_t first, std::size_t count) {
  return std::span<const T>(values).subspan(first, count);
}

}  // namespace

std::span<const std::uint32_t> ReaderChunk::history_of(const RecordedImpression& impression) const {
  return part(clicks, click_offsets[impression.user - first_user], impression.history_length);
}
std::span<const std::uint32_t> ReaderChunk::shown_in(const RecordedImpression& impression) const {
  return part(shown, impression.first_shown, impression.shown_count);
}
std::span<const std::uint8_t> ReaderChunk::clicked_in(const RecordedImpression& impression) const {
  return part(clicked, impression.first_shown, impression.shown_count);
}
std::span<const TrueScores> ReaderChunk::scores_of(const RecordedImpression& impression) const {
  return part(scores, impression.first_score, impression.shown_count);
}

Result<std::vector<ReaderChunk>> simulate_readers(const World& world, const NewsroomSettings& settings) {
  const auto readers = static_cast<std::size_t>(settings.users);
  const ThemeSampler themes(world.themes);
  std::vector<ReaderChunk> chunks((readers + readers_per_chunk - 1) / readers_per_chunk);
  Progress progress("readers", readers, "readers");
  parallel_for(chunks.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end && !interrupted(); ++index) {
      ReaderChunk& chunk = chunks[index];
      const std::size_t first = index * readers_per_chunk;
      const std::size_t last = std::min(first + readers_per_chunk, readers);
      chunk.first_user = static_cast<std::uint32_t>(first);
      chunk.click_offsets.push_back(0);
      ReadingRoom room(world, settings, themes, chunk);
      for (std::size_t user = first; user < last; ++user) room.read(static_cast<std::uint32_t>(user));
      progress.advance(last - first);
    }
  });
  if (interrupted()) return failed("interrupted: nothing was written");
  return chunks;
}

}  // namespace sotto::data::newsroom
