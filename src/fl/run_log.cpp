#include "fl/run_log.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/binary_file.h"

namespace sotto::fl {

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

namespace {

std::vector<RoundRecord> read_lines(std::istream& lines) {
  std::vector<RoundRecord> records;
  for (std::string text; std::getline(lines, text);) {
    try {
      const json line = json::parse(text);
      RoundRecord record{line.at("round"),   line.at("loss"),       line.at("seconds"),  line.at("clients"),
                         line.at("samples"), line.at("bytes_down"), line.at("bytes_up"), {}};
      if (line.contains("auc"))
        record.validation =
            metrics::ImpressionMetrics{line.at("auc"), line.at("mrr"), line.at("ndcg5"), line.at("ndcg10")};
      records.push_back(record);
    } catch (const json::exception&) {
      break;
    }
  }
  return records;
}

std::string lines_of(const std::vector<RoundRecord>& records) {
  std::string text;
  for (const RoundRecord& record : records) text += to_json_line(record) + "\n";
  return text;
}

}  // namespace

std::vector<RoundRecord> read_run_log(const fs::path& path) {
  std::ifstream file(path);
  return read_lines(file);
}

Result<RunLog> RunLog::open(const fs::path& path, std::uint32_t rounds_done,
                            const std::vector<RoundRecord>& unwritten) {
  std::vector<RoundRecord> records;
  if (rounds_done > 0) records = read_run_log(path);
  if (!records.empty() && records.back().round > rounds_done)
    return bad_input(
        "{} tells of {} rounds and the checkpoint to go on from of {}: it is an older one, and the rounds "
        "since would be released twice. Put the latest last.sotto back, or train anew in another folder",
        path.string(), records.back().round, rounds_done);
  const std::uint32_t last = records.empty() ? 0 : records.back().round;
  for (const RoundRecord& record : unwritten)
    if (record.round > last) records.push_back(record);
  SOTTO_CHECK(write_file_atomically(path, lines_of(records)));
  return RunLog(path, std::move(records));
}

Status RunLog::append(const std::vector<RoundRecord>& records) {
  std::ofstream file(path_, std::ios::app);
  file << lines_of(records);
  file.flush();
  if (!file) return failed("cannot write {}: is the disk full?", path_.string());
  records_.insert(records_.end(), records.begin(), records.end());
  return {};
}

namespace {

constexpr std::string_view kind = "checkpoint";
constexpr std::uint32_t version = 2;

struct Header {
  std::uint32_t rounds_done, best_round, optimiser_tensors, reserved;
  double best_score, seconds;
  std::int64_t threads;
};

Status add_tensor(BinaryFileWriter& writer, const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
  if (plain.scalar_type() == torch::kFloat64)
    return writer.add(
        name, std::span<const double>(plain.data_ptr<double>(), static_cast<std::size_t>(plain.numel())));
  return writer.add(name,
                    std::span<const float>(plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel())));
}

template <class T>
torch::Tensor copy_of(std::span<const T> values, torch::ScalarType type) {
  torch::Tensor tensor = torch::empty({static_cast<std::int64_t>(values.size())}, type);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor;
}

Result<torch::Tensor> read_tensor(const BinaryFileReader& reader, const std::string& name) {
  if (auto floats = reader.section<float>(name)) return copy_of(*floats, torch::kFloat32);
  SOTTO_TRY(auto doubles, reader.section<double>(name));
  return copy_of(doubles, torch::kFloat64);
}

}  // namespace

Status save_checkpoint(const fs::path& path, const Checkpoint& checkpoint) {
  SOTTO_TRY(auto writer, BinaryFileWriter::create(path, kind, version));
  const Header header{checkpoint.rounds_done,
                      checkpoint.best_round,
                      static_cast<std::uint32_t>(checkpoint.optimiser.size()),
                      0,
                      checkpoint.best_score,
                      checkpoint.seconds,
                      checkpoint.threads};
  SOTTO_CHECK(writer.add("header", std::span<const Header>(&header, 1)));
  SOTTO_CHECK(writer.add_text("layout", checkpoint.layout));
  SOTTO_CHECK(writer.add_text("log", lines_of(checkpoint.unwritten)));
  SOTTO_CHECK(add_tensor(writer, "parameters", checkpoint.parameters));
  for (std::size_t i = 0; i < checkpoint.optimiser.size(); ++i)
    SOTTO_CHECK(add_tensor(writer, fmt::format("optimiser{}", i), checkpoint.optimiser[i]));
  return writer.commit();
}

Result<Checkpoint> load_checkpoint(const fs::path& path, const std::string& layout) {
  SOTTO_TRY(auto reader, BinaryFileReader::open(path, kind, version));
  SOTTO_TRY(auto headers, reader.section<Header>("header"));
  SOTTO_TRY(auto stored_layout, reader.text("layout"));
  SOTTO_TRY(const auto log, reader.text("log"));
  std::istringstream lines{std::string(log)};
  if (headers.size() != 1 || headers[0].optimiser_tensors > 16)
    return bad_input("{} is damaged: its header makes no sense", path.string());
  if (stored_layout != layout)
    return bad_input(
        "{} belongs to a model of another shape: use the settings it was trained with (settings.toml beside "
        "it)",
        path.string());
  Checkpoint checkpoint{headers[0].rounds_done,
                        headers[0].best_round,
                        headers[0].best_score,
                        headers[0].seconds,
                        headers[0].threads,
                        std::string(stored_layout),
                        {},
                        {},
                        read_lines(lines)};
  SOTTO_TRY(checkpoint.parameters, read_tensor(reader, "parameters"));
  for (std::uint32_t i = 0; i < headers[0].optimiser_tensors; ++i) {
    SOTTO_TRY(auto tensor, read_tensor(reader, fmt::format("optimiser{}", i)));
    checkpoint.optimiser.push_back(std::move(tensor));
  }
  return checkpoint;
}

bool has_released_rounds(const fs::path& run) {
  std::error_code missing;
  const auto log = fs::file_size(run / "log.jsonl", missing);
  return fs::exists(run / "best.sotto") || (!missing && log > 0);
}

Status check_nothing_is_released_twice(const fs::path& run) {
  if (fs::exists(run / "last.sotto") || !has_released_rounds(run)) return {};
  return bad_input(
      "{} has released rounds, and the checkpoint to go on from (last.sotto) is gone: drawing them again "
      "would release them twice. Put it back, or train anew in another folder",
      run.string());
}

}  // namespace sotto::fl
