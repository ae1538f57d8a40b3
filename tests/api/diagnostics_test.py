"""What compilers say of calls that are nearly right, in C++17 and in C++20: plausible ones compile, others are answered by
one error each, which says what to do, the same in both; an older C++ is one error."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
MPI = [("-isystem", directory) for directory in os.environ["STEADFOLD_MPI_INCLUDES"].split(":") if directory]
FLAGS = ["-fsyntax-only", "-I", INCLUDE, *[word for pair in MPI for word in pair],
         "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
# That of the build, and others that are there. For a second MPI library, whose handles alone are others: the first
# compiler and C++20, since both standards see the same tokens.
OTHERS = ("g++-12", "clang++-16") if os.environ["STEADFOLD_OTHER_COMPILERS"] == "1" else ()
COMPILERS = list(dict.fromkeys(os.path.realpath(found) for name in (os.environ["STEADFOLD_CXX"], *OTHERS)
                               if (found := shutil.which(name))))
MOST_LINES = 30  # of what a compiler says of one call
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wold-style-cast"]
STANDARDS = ["c++17", "c++20"] if OTHERS else ["c++20"]

OPENING = """
#include <steadfold/accumulator.hpp>
#include <steadfold/diagnosis.hpp>
#include <steadfold/memory.hpp>
#include <steadfold/mpi.hpp>
#include <steadfold/started.hpp>
#include <steadfold/team.hpp>
#include <array>
#include <functional>
#include <list>
#include <string>
#if __cplusplus >= 202002L
#include <ranges>
#endif
namespace mine {  // whose functions fit every call, and are none of ours
struct Plus { double operator()(double a, double b) const { return a + b; } };
struct Span { const double* data() const; std::size_t size() const; };
#define ANY(name) template <class... A> void name(A&&...) = delete
ANY(check); ANY(call_of); ANY(call_of_vectors); ANY(call_of_blocks); ANY(reduce_array); ANY(reduce_rows); ANY(operands);
struct Mass { explicit Mass(double m) : kilograms(m) {} double kilograms; };
ANY(sum); ANY(reduce); ANY(allreduce); ANY(reduce_scatter); ANY(start); ANY(group_of); ANY(told); ANY(made); ANY(describe);
}
template <>
inline constexpr bool steadfold::is_borrowed<mine::Span> = true;
struct Data {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<double> x = std::vector<double>(3), y = x;
  std::vector<float> floats = std::vector<float>(3);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(3);
  std::vector<std::uint64_t> blocks = {3};
  const std::vector<double> constants = x;
  sf::Plan<double> plan{sf::dot, 3, comm};
  sf::VectorPlan<double> vectors = sf::Plan<double>::of_vectors(sf::plus, 3, comm);
  sf::Array<double> array{x.data(), {3}};
};
"""

# (a statement, words of the one error that it gets). Of temporaries of one type only the first is an error, so each has
# a type of its own.
REFUSED = [
    ("sf::sum(std::vector<short>(3), d.comm);", "built-in operators take float, double"),
    ("sf::sum(std::vector<char>(3));", "built-in operators take float, double"),
    ("sf::sum(std::vector<bool>(3), d.comm);", "std::vector (not of bool)"),
    ("sf::norm2(std::list<double>(3), d.comm);", "give contiguous elements"),
    ("[[maybe_unused]] double s = sf::sum(3.0, d.comm);", "not a number (for one number: sf::view(&number, 1))"),
    ("int one = 1; sf::allreduce(one, sf::plus, d.comm);", "not a number (for one number: sf::view(&number, 1))"),
    ("sf::dot(d.x, d.floats, d.comm);", "the two vectors of a dot product need elements of the same type"),
    ("sf::dot(d.x, d.comm);", "a dot product takes two vectors, a masked sum"),
    ("sf::norm2(d.x, d.y, d.comm);", "takes one vector, then a communicator or options"),
    ("sf::max(std::vector<std::complex<double>>(3), d.comm);", "does not support elements of this type"),
    ("sf::masked_sum(d.x, std::vector<int>(3), d.comm);", "a mask has one byte per element"),
    ("sf::allreduce(d.constants, sf::plus, d.comm);", "its elements must not be const"),
    ("sf::scan(std::vector<double>(3), sf::plus, d.comm);", "give a variable, not a temporary"),
    ("std::vector<sf::Bfloat16> b; sf::allreduce(b, sf::plus, d.comm);", "but have a different type"),
    ("sf::reduce_scatter(d.x, d.blocks, d.floats, sf::plus, d.comm);", "values and results need elements of the same type"),
    ("sf::reduce(d.x, [](int* a) { return a; }, d.comm);", "an operator must be callable as op(left, right)"),
    ("sf::reduce(d.x, [](double, double) {}, d.comm);", "an operator must be callable as op(left, right)"),
    ("sf::reduce(std::vector<int>(3), [](int a, int b) { return (a + b) / 2.0; }, d.comm);",
     "an operator on integers must return integers"),
    ("sf::reduce(std::vector<std::string>(3), std::plus<>{}, d.comm);", "they must be trivially copyable"),
    ("double s; d.plan.start(std::vector<double>(3), s);", "give a variable, not a temporary"),
    ("double s; d.plan.start(d.x, std::array<double, 3>(), s);", "give a variable, not a temporary"),
    ("d.vectors.start(std::array<double, 4>(), d.x);", "give a variable, not a temporary"),
    ("sf::start(sf::plus, std::array<double, 5>(), d.comm);", "give a variable, not a temporary"),
    ("sf::Plan<double> plan(sf::min_location, 3, d.comm);", "sf::Plan<double, sf::Located<double>>"),
    ("sf::Plan<unsigned short> plan(sf::plus, 3, d.comm);", "built-in operators take float, double"),
    ("[[maybe_unused]] double s = sf::Plan<double>::of_vectors(sf::plus, 3, d.comm).run(d.x);", "void"),
    ("sf::Plan<double>::of_vectors(sf::plus, 3, d.comm).run(d.constants);", "no matching"),
    ("sf::Plan<double> plan(sf::plus, 3, d.comm); plan.run(d.floats);", "View<const double>"),
    ("sf::Plan<float> plan(sf::to<double>(sf::plus), 3, d.comm);", "sf::Plan<float, double>"),
    ("d.vectors.start(std::array<double, 6>());", "no matching"),
    ("d.vectors.run(d.x, std::array<double, 14>());", "no matching"),
    ("sf::start_scan(d.constants, sf::min, d.comm);", "its elements must not be const"),
    ("sf::start_exscan(std::array<double, 7>(), sf::plus, d.comm);", "give a variable, not a temporary"),
    ("const std::vector<long> n(3); sf::reduce_scatter_block(n, d.floats, sf::plus, d.comm);", "values and results need elements of the same type"),
    ("sf::norm2(std::vector<int>(3), d.comm);", "does not support elements of this type"),
    ("sf::norminf(std::vector<std::complex<float>>(3));", "does not support elements of this type"),
    ("sf::dots(std::vector<unsigned>(3), {std::vector<unsigned>(3)});", "does not support elements of this type"),
    ("sf::Array<long> a(nullptr, {3}); sf::mean(a, d.comm);", "does not support elements of this type"),
    ("sf::Bundle bundle; bundle.sum(std::array<double, 8>());", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.dot(std::array<double, 9>(), d.y);", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.dot(d.x, std::array<double, 10>());", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.masked_sum(d.x, std::array<char, 3>());", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.dots(std::array<double, 11>(), {d.x});", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.reduce(std::array<double, 12>(), sf::max);", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.allreduce(std::array<double, 13>(), sf::plus);", "give a variable, not a temporary"),
    ("sf::Bundle bundle; bundle.allreduce(d.constants, sf::max);", "its elements must not be const"),
    ("sf::Bundle bundle; bundle.dot(d.x, d.mask);", "the two vectors of a dot product need elements of the same type"),
    ("sf::Bundle bundle; bundle.masked_sum(d.x, d.y);", "a mask has one byte per element"),
    ("sf::Bundle bundle; const std::vector<long> n(3); bundle.abs_sum(n);", "does not support elements of this type"),
    ("sf::Accumulator<int> a;", "an accumulator takes elements of type double or float"),
    ("sf::Accumulator<double> a; a.add_products(d.x, d.y);", "products can only be added to a ProductAccumulator"),
    ("sf::reduce(sf::Array<int>(nullptr, {3}), [](int a, int b) { return (a + b) / 2.0; });", "an operator on integers"),
    ("sf::reduce(d.array, [](double, double) {}, d.comm);", "an operator must be callable as op(left, right)"),
    ("sf::ArrayPlan plan([](double, double) {}, d.array, {}, d.comm);", "an operator must be callable as op(left, right)"),
    ("sf::dotc(d.array);", "a dot product takes two vectors"),
    ("sf::max(d.array, d.array, d.comm);", "takes one vector, then a communicator or options"),
    ("sf::plus(d.array, d.array, {}, d.comm);", "takes one vector, then a communicator or options"),
    ("sf::masked_sum(d.array, d.array);", "for an array, give the mask as Axes::where"),
    ("sf::dot(d.array, d.x);", "the second operand of an array must be an array of the same type"),
    ("sf::dot(d.array, sf::Array<float>(nullptr, {3}));", "the second operand of an array must be an array of the same type"),
    ("sf::start(sf::plus, d.array, d.comm);", "to start a call on an array, give its axes"),
    ("sf::Bundle bundle; bundle.sum(d.array);", "no matching"),
    ("sf::sum<short>(d.floats);", "if elements are numbers, results must be numbers"),
    ("sf::to<bool>(sf::max)(d.x, d.comm);", "if elements are numbers, results must be numbers"),
    ("sf::start_reduce_scatter(d.x, d.blocks, std::vector<double>(3), sf::max, d.comm);", "give a variable, not a temporary"),
    ("sf::sum_by(std::vector<bool>(3), std::vector<int>(3), 2);", "no matching"),
    ("sf::sum_by(d.x, std::vector<short>(3), 2);", "labels are integers of 32 or 64 bits"),
    ("sf::sum_by(d.x, d.y, 2, d.comm);", "labels are integers of 32 or 64 bits"),
    ("sf::Axes axes; axes.labels = sf::Array<float>(nullptr, {3}); sf::sum(d.array, axes);", "labels are integers of 32 or 64 bits"),
    ("sf::diagnosis(std::vector<int>(3), d.comm);", "no matching"),
    ("struct Rows : std::vector<double> { const std::vector<double>* begin() const { return this; } }; sf::sum(Rows());",
     "give contiguous elements"),
    ("sf::ArrayPlan<double> plan(sf::min_location, d.array, {}, d.comm);", "leave out the types"),
]

ACCEPTED = [
    "mine::Plus op; sf::reduce(d.x, op); sf::reduce(d.x, op, d.comm); sf::allreduce(d.x, op, d.comm); sf::scan(d.x, op, d.comm);",
    "mine::Plus op; sf::start(op, d.x, d.comm).get(); sf::Plan<double> plan(op, 3, d.comm); sf::reduce(d.array, op, d.comm);",
    "mine::Plus op; sf::reduce_scatter_block(d.x, d.y, op, d.comm); sf::start_reduce_scatter(d.x, d.blocks, d.y, op, d.comm);",
    "mine::Plus op; sf::Bundle bundle; bundle.reduce(d.x, op); bundle.allreduce(d.y, op); bundle.reduce(d.array, op, {});",
    "auto op = [](mine::Mass a, mine::Mass b) { return mine::Mass(a.kilograms + b.kilograms); }; const mine::Mass kg(1); "
    "sf::reduce(std::vector<mine::Mass>(3, kg), op); sf::reduce(sf::view(&kg, 1), op, d.comm); "
    "sf::Plan<mine::Mass> plan(op, 1, d.comm); plan.run(sf::view(&kg, 1));",
    "sf::Bundle bundle; bundle.sum(mine::Span()); sf::start(sf::sum, mine::Span(), d.comm); sf::diagnosis(mine::Span(), d.comm);",
    "sf::sum(d.x, d.comm, sf::tree());",
    "sf::sum<double>(d.floats, d.comm, sf::exact());",
    "sf::dot(d.x, d.y, sf::binned());",
    "[[maybe_unused]] long long s = sf::sum(std::vector<long long>(3), d.comm);",
    "[[maybe_unused]] unsigned long long s = sf::max_location(std::vector<unsigned long long>(3)).value;",
    "double numbers[] = {1, 2}; sf::sum(numbers, d.comm); sf::allreduce(numbers, sf::plus, d.comm);",
    "sf::allreduce(d.x, sf::plus, d.comm); sf::reduce_to(0, d.x, sf::plus, d.comm, sf::tree());",
    "sf::reduce_scatter(d.x, d.blocks, d.y, sf::plus, d.comm); sf::reduce_scatter_block(d.x, d.y, sf::plus, d.comm);",
    "sf::reduce(d.x, std::plus<>{}, d.comm); sf::reduce(d.x, sf::named(\"plus\", std::plus<>{}), d.comm);",
    "sf::reduce(std::vector<int>(3), std::plus<>{}, d.comm);",
    "sf::reduce(d.x, [](const auto& a, const auto& b) { return a + b; }, d.comm);",
    "sf::Plan<double> plan([](const auto& a, const auto& b) { return a + b; }, 3, d.comm);",
    "sf::Plan<double> plan(sf::dot, 3, d.comm, sf::exact()); plan.run(d.x, d.y);",
    "sf::Plan<double> plan(sf::sum, 3, d.comm);",
    "sf::Bundle bundle; bundle.sum(d.x, sf::tree());",
    "sf::Bundle bundle; bundle.allreduce(d.x, sf::plus); bundle.weighted_mean(d.x, d.y); bundle.statistics(d.x);",
    "sf::sum_by(d.x, std::vector<int>(3), 2, d.comm); [[maybe_unused]] const sf::Statistics s = sf::statistics(d.x, d.comm);",
    "sf::sum(d.x, d.comm, sf::tree()); sf::sum(d.x, sf::binned({4}));",
    "sf::Options options; options.threads = 8; options.layout = sf::Layout::contiguous(3, d.comm); "
    "sf::sum(d.x, d.comm, options);",
    "sf::Options options; options.require = sf::ranks | sf::layout; sf::sum(d.x, d.comm, options);",
    "[[maybe_unused]] double s = sf::to<double>(sf::plus)(d.floats, d.comm, sf::exact());",
    "sf::dot(d.x, d.y, d.comm, sf::binned()); sf::dot(d.x, d.y); sf::masked_sum(d.x, d.mask, d.comm);",
    "double numbers[] = {1, 2}; sf::sum(numbers, d.comm); sf::allreduce(numbers, sf::plus, d.comm);",
    "sf::allreduce(sf::view(d.x.data(), 2), sf::max, d.comm); sf::reduce_to(0, d.x, sf::plus, d.comm);",
    "sf::reduce(std::array<float, 2>{}, std::plus<>{}, d.comm);",
    "sf::reduce(std::vector<int>(3), std::plus<>{}, d.comm);",
    "sf::reduce(d.x, sf::named(\"plus\", std::plus<>{}));",
    "sf::Plan<double> plan(sf::dot, 3, d.comm, sf::exact()); [[maybe_unused]] double s = plan.run(d.x, d.y);",
    "auto plan = sf::Plan<double>::of_vectors(sf::plus, 3, d.comm); plan.run(d.x); plan.run(d.constants, d.x);",
    "[[maybe_unused]] sf::Statistics s = sf::statistics(d.x); sf::max_location(d.x, d.comm);",
    "sf::Team team(d.comm, 2); sf::sum(d.x, team[0]); sf::sum(d.x, sf::group_of(d.comm));",
    "sf::Array<double> a(d.x.data(), {3}); sf::Axes axes{{0}, a, a, {}, 0}; sf::sum(a, axes, d.comm, sf::exact()); "
    "sf::mean(a); sf::max(a, d.comm); sf::dot(a, a, axes);",
    "sf::dots(d.x, {d.x, d.y}, d.comm); sf::dotcs(d.x, {d.y}); sf::sum_by(d.x, std::vector<int>(3), 2, d.comm);",
    "sf::Bundle bundle; bundle.sum(d.array, {}); bundle.dot(d.array, d.array, {}); sf::reduce(d.array, sf::max, d.comm);",
    "sf::Bundle bundle; auto s = bundle.sum(d.x); bundle.allreduce(d.y, sf::plus); bundle.bind(d.comm).run(); s.value();",
    "auto s = sf::start(sf::plus, d.x, d.comm); sf::start_allreduce(d.y, sf::plus, d.comm).wait(); s.get();",
    "sf::Accumulator<double> a; a += 1.0; a += d.x; a += a; a.add(sf::Array<double>(d.x.data(), {3})); a.sum<float>();",
    "sf::start_bind<double>(sf::plus, 3, d.comm).get().run(d.x); sf::barrier(d.comm); sf::diagnosis(d.x, d.comm);",
    "std::vector<double, sf::Allocator<double>> v(3); sf::allreduce(v, sf::plus, d.comm); sf::allocate<int>(3);",
]

# In C++20, which has views, and sets options by their names and has spans.
ACCEPTED_CXX20 = [
    "sf::Bundle bundle; bundle.sum(std::views::drop(d.x, 1)); sf::start(sf::plus, std::views::take(d.x, 2), d.comm);",
    "sf::allreduce(std::views::take(d.x, 2), sf::plus, d.comm); sf::start(sf::plus, std::ranges::subrange(d.x), d.comm);",
    "sf::sum(d.x, d.comm, {.method = sf::tree()});",
    "sf::sum(d.x, {.threads = 8});",
    "sf::dot(d.x, d.y, d.comm, {.method = sf::binned()});",
    "sf::min(d.x, d.comm, {.threads = 2});",
    "double one = 1; sf::allreduce(std::span(&one, 1), sf::plus, d.comm);",
    "sf::scan(d.x, sf::plus, d.comm); sf::exscan(std::span{d.x}, sf::plus, d.comm);",
    "const sf::Array<double> a(d.x.data(), {3}); sf::sum(a, d.comm); sf::sum(a, {.keep = {0}}, d.comm, sf::binned());",
    "const sf::Array<double> a(d.x.data(), {3}); sf::sum(a, {.weights = a}); sf::dot(a, a, {.where = a}, d.comm);",
    "const sf::Array<double> a(d.x.data(), {3}); sf::mean(a, {.weights = a}); sf::statistics(a, {.keep = {0}}, d.comm);",
    "const sf::Array<double> a(d.x.data(), {3}); sf::mean(a, {.threads = 2}); sf::max(a, {.keep = {0}}, d.comm);",
]


# What a standard has for itself: no part of a function or a class that both have.
ONLY_IN = {
    "c++17": [],
    "c++20": ["inline constexpr bool is_borrowed<std::span<T, size>> = true;",
              "void of_views(const std::ranges::view_interface<V>&);",
              "inline constexpr bool outlives<R, std::void_t<decltype(of_views(std::declval<const R&>()))>> =",
              "is_borrowed<R> || std::ranges::enable_borrowed_range<R>;",
              "inline constexpr bool std::ranges::enable_borrowed_range<steadfold::View<T>> = true;",
              "inline constexpr bool std::ranges::enable_view<steadfold::View<T>> = true;",
              "std::partial_ordering operator<=>(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {",
              "const sf_order order = a.order(b);",
              "return order == SF_LESS ? std::partial_ordering::less",
              ": order == SF_EQUAL ? std::partial_ordering::equivalent",
              ": order == SF_GREATER ? std::partial_ordering::greater",
              ": std::partial_ordering::unordered;"],
}


def said_of(compiler, source, standard, *flags):
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "calls.cpp"
        path.write_text(source)
        words = [compiler, f"-std={standard}", *flags, *FLAGS, path]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    return done.stderr


def source_of(statements):
    return OPENING + "".join(f"void call{i}([[maybe_unused]] Data& d) {{ {s} }}\n" for i, s in enumerate(statements))


def lines_of_headers(standard):
    """What is left of the headers after the preprocessor, which leaves no comments."""
    text = subprocess.run([str(word) for word in (COMPILERS[0], f"-std={standard}", "-E", "-x", "c++", *FLAGS[1:], "-")],
                          input=OPENING, capture_output=True, text=True, timeout=300, check=True).stdout
    lines, is_ours = Counter(), False
    for line in text.splitlines():
        if line.startswith("# "):
            is_ours = str(INCLUDE) in line
        elif is_ours and not re.fullmatch(r"[})]*;?|template <[^<>]*>", line.strip()):
            lines[line.strip()] += 1
    return lines


def errors_in(text):
    of_candidates = "no type named ‘type’ in ‘struct std::enable_if<false"  # why GCC did not take one
    return [line for line in text.splitlines() if "error:" in line and of_candidates not in line]


class Diagnostics(unittest.TestCase):
    def each(self, check):
        self.assertTrue(COMPILERS)
        for compiler in COMPILERS:
            for standard in STANDARDS:
                with self.subTest(compiler=compiler, standard=standard):
                    check(compiler, standard)

    def test_calls_that_compile(self):
        def check(compiler, standard):
            calls = ACCEPTED + (ACCEPTED_CXX20 if standard == "c++20" else [])
            self.assertEqual(said_of(compiler, source_of(calls), standard, *WARNINGS), "")

        self.each(check)

    def test_calls_that_are_answered_by_one_error(self):
        def check(compiler, standard):
            no_limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
            text = said_of(compiler, source_of([statement for statement, _ in REFUSED]), standard, no_limit)
            errors = errors_in(text)
            for statement, words in REFUSED:
                found = next((error for error in errors if words in error), None)
                self.assertIsNotNone(found, f"{statement}: no '{words}' in\n" + "\n".join(errors))
                errors.remove(found)
            self.assertEqual(errors, [], "more than one error for a call")
            self.assertLess(len(text.splitlines()), MOST_LINES * len(REFUSED), text)

        self.each(check)

    def test_both_standards_see_the_same_tokens(self):
        """So that types and functions are the same in sources of both, which may be linked together."""
        seen = {standard: lines_of_headers(standard) for standard in STANDARDS}
        self.assertGreater(len(seen["c++17"]), 1500)
        self.assertEqual(sorted((seen["c++17"] - seen["c++20"]).elements()), sorted(ONLY_IN["c++17"]))
        self.assertEqual(sorted((seen["c++20"] - seen["c++17"]).elements()), sorted(ONLY_IN["c++20"]))

    def test_an_older_standard_is_one_error(self):
        for compiler in COMPILERS:
            for header in sorted(path.name for path in (INCLUDE / "steadfold").glob("*.hpp")):
                errors = errors_in(said_of(compiler, f"#include <steadfold/{header}>\n", "c++14"))
                self.assertEqual(len(errors), 1, errors)
                self.assertIn("Steadfold needs C++17", errors[0])


if __name__ == "__main__":
    unittest.main()
