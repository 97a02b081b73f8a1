#!/usr/bin/env bash
# Runs the tests of whatever has threads under ThreadSanitizer (build/tsan): whole suites, by how their names begin.
set -euo pipefail
cd "$(dirname "$0")/.."
suites=(
  ThreadPool ParallelFor Progress                                       # base
  Dataset Newsroom                                                      # data
  Http KeptBytes                                                        # net, transport
  ModularSum RingVector SecureSum MaskStream Masks                      # secagg
  LiveIndexThreads LivePoolThreads QueryCoalescing WholeSystem Serving  # serving
  Coordinator EventFeed BlobShelf HostileRounds InspectionTest RoundSession Traffic WeakenedCampaigns SQLite/Store
)
modules=(base data metrics net secagg serving coordinator transport)
tools/build.sh tsan "${modules[@]/#/test_}"
ctest --test-dir build/tsan --output-on-failure --timeout 1800 -R "^($(IFS='|' && echo "${suites[*]}"))"
