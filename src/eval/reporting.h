#pragma once
// Tables, plots and pages (src/report), by their short names in this folder.

#include "report/markup.h"
#include "report/plot.h"
#include "report/report.h"

namespace sotto::eval {

using report::Better;
using report::HtmlReport;
using report::padded;
using report::Plot;
using report::PlotSeries;
using report::ReferenceLine;
using report::ReportSection;
using report::ReportTable;
using report::SeriesStyle;
using report::TableCell;
using report::TableColumn;

}  // namespace sotto::eval
