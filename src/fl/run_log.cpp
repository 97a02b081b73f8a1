#include "fl/run_log.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace sotto {

using nlohmann::json;

std::string to_json_line(const RoundRecord& record) {
  json line = {{"round", record.round},          {"loss", record.loss},       {"seconds", record.seconds},
               {"clients", record.clients},      {"samples", record.samples}, {"bytes_up", record.bytes_up},
               {"bytes_down", record.bytes_down}};
  if (record.validation) {
    line["auc"] = record.validation->auc;
    line["mrr"] = record.validation->mrr;
    line["ndcg5"] = record.validation->ndcg5;
    line["ndcg10"] = record.validation->ndcg10;
  }
  return line.dump();
}

std::vector<RoundRecord> read_run_log(const fs::path& path) {
  std::vector<RoundRecord> records;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    try {
      const json line = json::parse(text);
      RoundRecord record{line.at("round"),   line.at("loss"),       line.at("seconds"),  line.at("clients"),
                         line.at("samples"), line.at("bytes_down"), line.at("bytes_up"), {}};
      if (line.contains("auc"))
        record.validation =
            ImpressionMetrics{line.at("auc"), line.at("mrr"), line.at("ndcg5"), line.at("ndcg10")};
      records.push_back(record);
    } catch (const json::exception&) {
      break;
    }
  }
  return records;
}

Result<RunLog> RunLog::open(const fs::path& path, std::uint32_t rounds_done) {
  std::vector<RoundRecord> records;
  if (rounds_done > 0) records = read_run_log(path);
  std::erase_if(records, [&](const RoundRecord& record) { return record.round > rounds_done; });
  std::string text;
  for (const auto& record : records) text += to_json_line(record) + "\n";
  SOTTO_CHECK(write_file_atomically(path, text));
  return RunLog(path, std::move(records));
}

Status RunLog::append(const RoundRecord& record) {
  std::ofstream file(path_, std::ios::app);
  file << to_json_line(record) << '\n';
  file.flush();
  if (!file) return failed("cannot write {}: is the disk full?", path_.string());
  records_.push_back(record);
  return {};
}

}  // namespace sotto
