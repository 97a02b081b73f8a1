#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "report/markup.h"
#include "report/plot_layout.h"

namespace sotto::report {

namespace {

// Chosen to be told apart on white and on near-black.
constexpr std::array<std::string_view, 8> colours = {"#2f7ed8", "#e07b00", "#1a9e77", "#d6336c",
                                                     "#8e5bd0", "#8a6d3b", "#17a2b8", "#7a8793"};
// Series beyond the number of colours are told apart by dashes.
constexpr std::array<std::string_view, 4> dashes = {
    "", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 3\"", " stroke-dasharray=\"8 3 2 3\""};

// Draws one plot; used once.
class PlotDrawing {
 public:
  explicit PlotDrawing(const Plot& plot) : plot_(plot), at_(plot) {}

  std::string svg() {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\" "
        "aria-label=\"{2}\" font-family=\"system-ui,sans-serif\" font-size=\"{3}\" fill=\"currentColor\">",
        at_.width, at_.height, escape_markup(plot_.title.empty() ? "plot" : plot_.title), plot_font_size);
    if (!plot_.title.empty())
      text(at_.width / 2, 18, plot_.title, "middle", " font-size=\"14\" font-weight=\"600\"");
    draw_grid();
    draw_axis_titles();
    draw_legend();
    draw_references();
    for (std::size_t s = 0; s < plot_.series.size(); ++s) draw_series(s);
    if (!anything_drawn_) text((at_.left + at_.right) / 2, (at_.top + at_.bottom) / 2, "no data", "middle");
    return out_ + "</svg>";
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void text(double x, double y, std::string_view content, std::string_view anchor,
            std::string_view attributes = "") {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor, attributes,
        escape_markup(content));
  }
  void rotated_text(double x, double y, std::string_view content, std::string_view anchor, int degrees) {
    text(x, y, content, anchor, fmt::format(" transform=\"rotate({} {:.1f} {:.1f})\"", degrees, x, y));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view attributes) {
    put("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>", x1, y1, x2, y2, attributes);
  }

  void draw_grid() {
    const std::string_view grid = "stroke=\"currentColor\" stroke-opacity=\"0.15\"";
    for (const double tick : at_.y.ticks()) {
      line(at_.left, at_.py(tick), at_.right, at_.py(tick), grid);
      text(at_.left - 6, at_.py(tick) + 4, at_.y.label(tick), "end");
    }
    if (plot_.categories.empty()) {
      for (const double tick : at_.x.ticks()) {
        line(at_.px(tick), at_.top, at_.px(tick), at_.bottom, grid);
        text(at_.px(tick), at_.bottom + 16, at_.x.label(tick), "middle");
      }
    }
    for (std::size_t c = 0; c < plot_.categories.size(); ++c) {
      const double x = at_.px(static_cast<double>(c));
      const std::string name = shortened(plot_.categories[c], longest_category);
      if (at_.slanted_categories)
        rotated_text(x + 4, at_.bottom + 14, name, "end", -30);
      else
        text(x, at_.bottom + 16, name, "middle");
    }
    const std::string_view axis = "stroke=\"currentColor\" stroke-opacity=\"0.6\"";
    line(at_.left, at_.top, at_.left, at_.bottom, axis);
    line(at_.left, at_.bottom, at_.right, at_.bottom, axis);
    if (at_.y.shows(0) && at_.y.low() < 0 && at_.y.high() > 0)
      line(at_.left, at_.py(0), at_.right, at_.py(0), axis);
  }

  void draw_axis_titles() {
    if (!plot_.x_label.empty()) text((at_.left + at_.right) / 2, at_.height - 8, plot_.x_label, "middle");
    if (!plot_.y_label.empty()) rotated_text(15, (at_.top + at_.bottom) / 2, plot_.y_label, "middle", -90);
  }

  void draw_legend() {
    for (const auto& [s, x, y] : at_.legend) {
      const PlotSeries& series = plot_.series[s];
      if (series.style == SeriesStyle::bars) {
        rectangle(x + 8, y - 6, 12, 12, series_colour(s));
      } else {
        if (series.style != SeriesStyle::points) line(x, y, x + 24, y, stroke(s));
        if (series.style != SeriesStyle::line) marker(x + 12, y, s);
      }
      text(x + 30, y + 4, shortened(series.label, longest_legend_label), "start");
    }
  }

  // Labels stand right of the plot, pushed apart where lines are close to each other.
  void draw_references() {
    constexpr double spacing = plot_font_size + 1;
    std::vector<ReferenceLine> lines;
    for (const ReferenceLine& reference : plot_.references) {
      if (at_.y.shows(reference.y)) lines.push_back(reference);
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.y > b.y; });
    std::vector<double> label_at;
    for (const ReferenceLine& reference : lines) {
      const double wanted = at_.py(reference.y);
      label_at.push_back(label_at.empty() ? wanted : std::max(wanted, label_at.back() + spacing));
    }
    for (std::size_t i = label_at.size(); i-- > 0;) {  // and back up when they ran out of the bottom
      label_at[i] = std::min(label_at[i], i + 1 == label_at.size() ? at_.bottom : label_at[i + 1] - spacing);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double y = at_.py(lines[i].y);
      line(at_.left, y, at_.right, y,
           "stroke=\"currentColor\" stroke-opacity=\"0.55\" stroke-dasharray=\"5 4\"");
      text(at_.right + 5, label_at[i] + 4, shortened(lines[i].label, longest_reference_label), "start");
      anything_drawn_ = true;
    }
  }

  static std::string stroke(std::size_t s) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"{}",
                       series_colour(s), dashes[s / colours.size() % dashes.size()]);
  }

  void rectangle(double x, double y, double width, double height, std::string_view colour) {
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>", x, y, width,
        height, colour);
  }

  void marker(double x, double y, std::size_t s) {
    const std::string_view colour = series_colour(s);
    switch (s % 4) {
      case 0:
        put("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>", x, y, colour);
        break;
      case 1:
        rectangle(x - 3.5, y - 3.5, 7, 7, colour);
        break;
      case 2:  // triangle
        put("<path d=\"M{:.1f} {:.1f}l4.2 7.2h-8.4z\" fill=\"{}\"/>", x, y - 4.6, colour);
        break;
      default:  // diamond
        put("<path d=\"M{:.1f} {:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\" fill=\"{}\"/>", x, y - 4.5, colour);
    }
  }

  void error_bar(double x, const PlotSeries& series, std::size_t i, std::string_view colour) {
    if (i >= series.error.size() || !(series.error[i] > 0) || !std::isfinite(series.error[i])) return;
    const double low = series.y[i] - series.error[i];
    const double top = at_.py(series.y[i] + series.error[i]),
                 bottom = at_.y.shows(low) ? at_.py(low) : at_.bottom;
    const std::string style = fmt::format("stroke=\"{}\" stroke-width=\"1.3\"", colour);
    line(x, top, x, bottom, style);
    line(x - 4, top, x + 4, top, style);
    line(x - 4, bottom, x + 4, bottom, style);
  }

  bool is_shown(const PlotSeries& series, std::size_t i) const {
    return i < point_count(series) && at_.x.shows(series.x[i]) && at_.y.shows(series.y[i]);
  }

  void draw_series(std::size_t s) {
    const PlotSeries& series = plot_.series[s];
    if (series.style == SeriesStyle::bars) return draw_bars(s);
    if (series.style != SeriesStyle::points) draw_path(s);
    for (std::size_t i = 0; i < point_count(series); ++i) {
      if (!is_shown(series, i)) continue;
      anything_drawn_ = true;
      const double x = at_.px(series.x[i]);
      error_bar(x, series, i, series_colour(s));
      // A point between two gaps would be invisible as a line.
      const bool alone = (i == 0 || !is_shown(series, i - 1)) && !is_shown(series, i + 1);
      if (series.style != SeriesStyle::line || alone) marker(x, at_.py(series.y[i]), s);
    }
  }

  void draw_path(std::size_t s) {
    const PlotSeries& series = plot_.series[s];
    put("<path d=\"");
    bool pen_down = false;
    for (std::size_t i = 0; i < point_count(series); ++i) {
      const bool shown = is_shown(series, i);
      if (shown) put("{}{:.1f} {:.1f}", pen_down ? "L" : "M", at_.px(series.x[i]), at_.py(series.y[i]));
      pen_down = shown;
    }
    put("\" {}/>", stroke(s));
  }

  // Bars of several series stand side by side.
  void draw_bars(std::size_t s) {
    const auto is_bars = [](const PlotSeries& series) { return series.style == SeriesStyle::bars; };
    const auto begin = plot_.series.begin();
    const auto group = static_cast<double>(std::count_if(begin, plot_.series.end(), is_bars));
    const auto place =
        static_cast<double>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(s), is_bars));
    const PlotSeries& series = plot_.series[s];
    const double slot = 0.76 * (at_.px(at_.x.low() + 1) - at_.left);
    const double bar = std::clamp(slot / group, 1.0, 60.0);
    const double base = at_.y.shows(0.0) ? at_.py(0.0) : at_.bottom;
    for (std::size_t i = 0; i < point_count(series); ++i) {
      if (!is_shown(series, i)) continue;
      anything_drawn_ = true;
      const double x = at_.px(series.x[i]) + bar * (place - group / 2), top = at_.py(series.y[i]);
      rectangle(x + 0.5, std::min(top, base), std::max(bar - 1, 0.5), std::abs(base - top), series_colour(s));
      error_bar(x + bar / 2, series, i, "currentColor");
    }
  }

  const Plot& plot_;
  const PlotLayout at_;
  bool anything_drawn_ = false;
  std::string out_;
};

}  // namespace

std::string_view series_colour(std::size_t index) { return colours[index % colours.size()]; }

std::string to_svg(const Plot& plot) { return PlotDrawing(plot).svg(); }

}  // namespace sotto::report
