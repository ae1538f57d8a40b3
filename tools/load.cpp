// Reads a file in two passes: every rank counts the elements that begin in its part of the file; then the counts are
// exchanged and every rank reads the elements that the distribution gives it.
#include <numeric>

#include "measure.hpp"
#include "readers/reader.hpp"
#include "spread.hpp"

namespace steadfold::command {
namespace {

void check_same_type(const Job& job, const Request& request, readers::Type type) {
  for (const readers::Type each : job.gather(type)) {
    if (each != type)
      throw Failure("cannot read " + request.file +
                    " (some ranks find type f64 in the file and some find f32), give all ranks the same file");
  }
}

template <class T>
void read_share(const readers::Source& source, Share& share) {
  std::vector<T> elements(static_cast<std::size_t>(share.mine.end - share.mine.begin));
  source.read(share.mine.begin, std::span<T>(elements));
  share.elements = std::move(elements);
}

}  // namespace

Share load(const Job& job, const Request& request) {
  std::unique_ptr<readers::Source> source;
  job.together([&] { source = readers::open(request.file, request.reader_options()); });
  job.together([&] { check_same_type(job, request, source->type()); });

  const auto rank = static_cast<std::uint64_t>(job.rank());
  std::uint64_t here = 0;
  job.together([&] { here = source->count(rank, static_cast<std::uint64_t>(job.rank_count())); });
  const std::vector<std::uint64_t> counts = job.gather(here);
  const std::vector<std::uint64_t> missing = job.gather(source->missing_count());

  Share share;
  share.missing_count = std::accumulate(missing.begin(), missing.end(), std::uint64_t{0});
  job.together([&] {
    source->set_counts(counts);
    share.element_count = source->element_count();
    share.table = source->table();
    share.found = source->found();
    const std::vector<std::uint64_t> held = spread(request.distribution, share.element_count, job.rank_count());
    for (std::size_t i = 0; i < rank; ++i) share.mine.begin += held[i];
    share.mine.end = share.mine.begin + held[rank];
    if (source->type() == readers::Type::f64)
      read_share<double>(*source, share);
    else
      read_share<float>(*source, share);
  });
  return share;
}

}  // namespace steadfold::command
