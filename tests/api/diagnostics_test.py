"""What compilers say of calls that are nearly right: plausible ones compile, others are answered by one error each, which
says what to do; an older C++ is one error."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
MPI = [("-isystem", directory) for directory in os.environ["STEADFOLD_MPI_INCLUDES"].split(":") if directory]
FLAGS = ["-fsyntax-only", "-I", INCLUDE, *[word for pair in MPI for word in pair],
         "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
# That of the build, and others that are there.
COMPILERS = list(dict.fromkeys(os.path.realpath(found) for name in (os.environ["STEADFOLD_CXX"], "g++-12", "clang++-16")
                               if (found := shutil.which(name))))
MOST_LINES = 30  # of what a compiler says of one call
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wold-style-cast"]
OF_CXX17 = ("cxx17", "common", "accumulator")  # how the names of headers begin that C++17 may include

OPENING = """
#include <steadfold/bundle.hpp>
#include <steadfold/mpi.hpp>
#include <steadfold/started.hpp>
#include <array>
#include <functional>
#include <list>
#include <string>
struct Data {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<double> x = std::vector<double>(3), y = x;
  std::vector<float> floats = std::vector<float>(3);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(3);
  std::vector<std::uint64_t> blocks = {3};
  const std::vector<double> constants = x;
  sf::Plan<double> plan{sf::dot, 3, comm};
  sf::Plan<double>::Vectors vectors = sf::Plan<double>::of_vectors(sf::plus, 3, comm);
};
"""

# (a statement, words of the one error that it gets). Of temporaries of one type only the first is an error, so each has
# a type of its own.
REFUSED = [
    ("sf::sum(std::vector<short>(3), d.comm);", "built-in operators take float, double"),
    ("sf::sum(std::vector<char>(3));", "built-in operators take float, double"),
    ("sf::sum(std::vector<bool>(3), d.comm);", "std::vector (not of bool)"),
    ("sf::norm2(std::list<double>(3), d.comm);", "give contiguous elements"),
    ("[[maybe_unused]] double s = sf::sum(3.0, d.comm);", "a number is none (for one: std::span(&number, 1))"),
    ("int one = 1; sf::allreduce(one, sf::plus, d.comm);", "a number is none (for one: std::span(&number, 1))"),
    ("sf::dot(d.x, d.floats, d.comm);", "the two vectors of a dot product have elements of one type"),
    ("sf::dot(d.x, d.comm);", "a dot product takes two vectors"),
    ("sf::norm2(d.x, d.y, d.comm);", "takes one vector, then a communicator or options"),
    ("sf::max(std::vector<std::complex<double>>(3), d.comm);", "does not take elements of this type"),
    ("sf::masked_sum(d.x, std::vector<int>(3), d.comm);", "a mask has one byte per element"),
    ("sf::allreduce(d.constants, sf::plus, d.comm);", "its elements must not be const"),
    ("sf::scan(std::vector<double>(3), sf::plus, d.comm);", "a temporary is gone after the call"),
    ("std::vector<sf::Bfloat16> b; sf::allreduce(b, sf::plus, d.comm);", "these have another type"),
    ("sf::reduce_scatter(d.x, d.blocks, d.floats, sf::plus, d.comm);", "values and results have elements of one type"),
    ("sf::reduce(d.x, [](int* a) { return a; }, d.comm);", "an operator is called as op(left, right)"),
    ("sf::reduce(d.x, [](double, double) {}, d.comm);", "an operator is called as op(left, right)"),
    ("sf::reduce(std::vector<int>(3), [](int a, int b) { return (a + b) / 2.0; }, d.comm);",
     "an operator on integers gives integers"),
    ("sf::reduce(std::vector<std::string>(3), std::plus<>{}, d.comm);", "they must be trivially copyable"),
    ("double s; d.plan.start(std::vector<double>(3), std::span(&s, 1));", "give a range with a name, not a temporary"),
    ("double s; d.plan.start(d.x, std::array<double, 3>(), std::span(&s, 1));", "give a range with a name, not a temporary"),
    ("d.vectors.start(std::array<double, 4>(), d.x);", "give a range with a name, not a temporary"),
    ("sf::start(sf::plus, std::array<double, 5>(), d.comm);", "give a range with a name, not a temporary"),
    ("sf::Plan<double> plan(sf::min_location, 3, d.comm);", "sf::Plan<double, sf::Located<double>>"),
    ("sf::Plan<unsigned short> plan(sf::plus, 3, d.comm);", "built-in operators take float, double"),
    ("[[maybe_unused]] double s = sf::Plan<double>::of_vectors(sf::plus, 3, d.comm).run(d.x);", "void"),
    ("sf::Plan<double>::of_vectors(sf::plus, 3, d.comm).run(d.constants);", "no matching"),
]

ACCEPTED = [
    "sf::sum(d.x, d.comm, sf::tree());",
    "sf::sum(d.x, d.comm, {.method = sf::tree()});",
    "sf::sum(d.x, {.threads = 8});",
    "sf::sum<double>(d.floats, d.comm, sf::exact());",
    "sf::dot(d.x, d.y, d.comm, {.method = sf::binned()});",
    "sf::dot(d.x, d.y, sf::binned());",
    "sf::min(d.x, d.comm, {.threads = 2});",
    "[[maybe_unused]] long long s = sf::sum(std::vector<long long>(3), d.comm);",
    "[[maybe_unused]] unsigned long long s = sf::max_location(std::vector<unsigned long long>(3)).value;",
    "double numbers[] = {1, 2}; sf::sum(numbers, d.comm); sf::allreduce(numbers, sf::plus, d.comm);",
    "double one = 1; sf::allreduce(std::span(&one, 1), sf::plus, d.comm);",
    "sf::allreduce(d.x, sf::plus, d.comm); sf::reduce_to(0, d.x, sf::plus, d.comm, sf::tree());",
    "sf::scan(d.x, sf::plus, d.comm); sf::exscan(std::span{d.x}, sf::plus, d.comm);",
    "sf::reduce_scatter(d.x, d.blocks, d.y, sf::plus, d.comm); sf::reduce_scatter_block(d.x, d.y, sf::plus, d.comm);",
    "sf::reduce(d.x, std::plus<>{}, d.comm); sf::reduce(d.x, sf::named(\"plus\", std::plus<>{}), d.comm);",
    "sf::reduce(std::vector<int>(3), std::plus<>{}, d.comm);",
    "sf::reduce(d.x, [](const auto& a, const auto& b) { return a + b; }, d.comm);",
    "sf::Plan<double> plan([](const auto& a, const auto& b) { return a + b; }, 3, d.comm);",
    "sf::Plan<double> plan(sf::dot, 3, d.comm, sf::exact()); plan.run(d.x, d.y);",
    "sf::Plan<double> plan(sf::sum, 3, d.comm);",
    "sf::Bundle bundle; bundle.sum(d.x, sf::tree());",
    "const sf::Array<double> a(d.x.data(), {3}); sf::sum(a, d.comm); sf::sum(a, {.keep = {0}}, d.comm, sf::binned());",
    "const sf::Array<double> a(d.x.data(), {3}); sf::sum(a, {.weights = a}); sf::dot(a, a, {.where = a}, d.comm);",
    "sf::Bundle bundle; bundle.allreduce(d.x, sf::plus); bundle.weighted_mean(d.x, d.y); bundle.statistics(d.x);",
    "sf::sum_by(d.x, std::vector<int>(3), 2, d.comm); [[maybe_unused]] const sf::Statistics s = sf::statistics(d.x, d.comm);",
    "const sf::Array<double> a(d.x.data(), {3}); sf::mean(a, {.weights = a}); sf::statistics(a, {.keep = {0}}, d.comm);",
    "const sf::Array<double> a(d.x.data(), {3}); sf::mean(a, {.threads = 2}); sf::max(a, {.keep = {0}}, d.comm);",
]

OPENING_CXX17 = """
#include <array>
#include <functional>
#include <string>
#include <vector>
struct Data {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<double> x = std::vector<double>(3), y = x;
  std::vector<float> floats = std::vector<float>(3);
  std::vector<unsigned char> mask = std::vector<unsigned char>(3);
  const std::vector<double> constants = x;
  sf17::Plan<double> plan{sf17::dot, 3, comm};
  sf17::VectorPlan<double> vectors = sf17::Plan<double>::of_vectors(sf17::plus, 3, comm);
};
"""

REFUSED_CXX17 = [
    ("sf17::sum(std::vector<short>(3), d.comm);", "built-in operators take float, double"),
    ("sf17::dot(d.x, d.floats, d.comm);", "a dot product takes two vectors of one type"),
    ("sf17::dot(d.x, d.comm);", "a dot product takes two vectors, a masked sum"),
    ("sf17::norm2(d.x, d.y, d.comm);", "takes one vector, then a communicator or options"),
    ("sf17::masked_sum(d.x, std::vector<int>(3));", "a mask has one byte per element"),
    ("sf17::allreduce(d.constants, sf17::plus, d.comm);", "its elements must not be const"),
    ("sf17::reduce(d.x, [](int* a) { return a; }, d.comm);", "an operator is called as op(left, right)"),
    ("sf17::reduce(d.x, [](double, double) {}, d.comm);", "an operator is called as op(left, right)"),
    ("sf17::reduce(std::vector<int>(3), [](int a, int b) { return (a + b) / 2.0; }, d.comm);",
     "an operator on integers gives integers"),
    ("sf17::reduce(std::vector<std::string>(3), std::plus<>{}, d.comm);", "they must be trivially copyable"),
    ("sf17::Plan<float> plan(sf17::to<double>(sf17::plus), 3, d.comm);", "sf17::Plan<float, double>"),
    ("sf17::Plan<double> plan(sf17::plus, 3, d.comm); plan.run(d.floats);", "elements of another type"),
    ("double s; d.plan.start(std::vector<double>(3), s);", "give a range with a name, not a temporary"),
    ("double s; d.plan.start(d.x, std::vector<double>(3), s);", "give a range with a name, not a temporary"),
    ("d.vectors.start(std::array<double, 4>(), d.x);", "give a range with a name, not a temporary"),
    ("d.vectors.start(std::array<double, 5>());", "give a range with a name, not a temporary"),
    ("sf17::Bundle bundle; bundle.sum(std::array<double, 6>());", "give a range with a name, not a temporary"),
    ("sf17::Bundle bundle; bundle.dot(d.x, d.mask);", "factors have elements of one type"),
    ("sf17::Bundle bundle; bundle.masked_sum(d.x, d.y);", "factors have elements of one type"),
    ("sf17::start(sf17::plus, std::array<double, 7>(), d.comm);", "give a range with a name, not a temporary"),
    ("sf17::start_scan(d.constants, sf17::plus, d.comm);", "its elements must not be const"),
    ("sf17::reduce_scatter_block(d.x, d.floats, sf17::plus, d.comm);", "values and results have elements of one type"),
    ("sf17::Accumulator<int> a;", "accumulators are of doubles or floats"),
    ("sf17::Accumulator<double> a; a.add_products(d.x, d.y);", "products are added to a ProductAccumulator"),
    ("sf17::Array<double> a(d.x.data(), {3}); sf17::ArrayPlan<double> plan(sf17::min_location, a, {}, d.comm);",
     "leave the types out"),
]

ACCEPTED_CXX17 = [
    "sf17::sum(d.x, d.comm, sf17::tree()); sf17::sum(d.x, sf17::binned({4}));",
    "sf17::Options options; options.threads = 8; options.layout = sf17::Layout::contiguous(3, d.comm); "
    "sf17::sum(d.x, d.comm, options);",
    "sf17::Options options; options.require = sf17::ranks | sf17::layout; sf17::sum(d.x, d.comm, options);",
    "[[maybe_unused]] double s = sf17::to<double>(sf17::sum)(d.floats, d.comm, sf17::exact());",
    "sf17::dot(d.x, d.y, d.comm, sf17::binned()); sf17::dot(d.x, d.y); sf17::masked_sum(d.x, d.mask, d.comm);",
    "double numbers[] = {1, 2}; sf17::sum(numbers, d.comm); sf17::allreduce(numbers, sf17::plus, d.comm);",
    "sf17::allreduce(sf17::view(d.x.data(), 2), sf17::max, d.comm); sf17::reduce_to(0, d.x, sf17::plus, d.comm);",
    "sf17::reduce(std::array<float, 2>{}, std::plus<>{}, d.comm);",
    "sf17::reduce(std::vector<int>(3), std::plus<>{}, d.comm);",
    "sf17::reduce(d.x, sf17::named(\"plus\", std::plus<>{}));",
    "sf17::Plan<double> plan(sf17::dot, 3, d.comm, sf17::exact()); [[maybe_unused]] double s = plan.run(d.x, d.y);",
    "auto plan = sf17::Plan<double>::of_vectors(sf17::plus, 3, d.comm); plan.run(d.x); plan.run(d.constants, d.x);",
    "[[maybe_unused]] sf17::Statistics s = sf17::statistics(d.x); sf17::max_location(d.x, d.comm);",
    "sf17::Team team(d.comm, 2); sf17::sum(d.x, team[0]); sf17::sum(d.x, sf17::group_of(d.comm));",
    "sf17::Array<double> a(d.x.data(), {3}); sf17::Axes axes{{0}, a, a}; sf17::sum(a, axes, d.comm, sf17::exact()); "
    "sf17::mean(a); sf17::max(a, d.comm); sf17::dot(a, a, axes);",
    "sf17::dots(d.x, {d.x, d.y}, d.comm); sf17::dotcs(d.x, {d.y}); sf17::sum_by(d.x, std::vector<int>(3), 2, d.comm);",
    "sf17::Bundle bundle; auto s = bundle.sum(d.x); bundle.allreduce(d.y, sf17::plus); bundle.bind(d.comm).run(); s.value();",
    "auto s = sf17::start(sf17::plus, d.x, d.comm); sf17::start_allreduce(d.y, sf17::plus, d.comm).wait(); s.get();",
    "sf17::Accumulator<double> a; a += 1.0; a += d.x; a += a; a.add(sf17::Array<double>(d.x.data(), {3})); a.sum<float>();",
    "sf17::start_bind<double>(sf17::plus, 3, d.comm).get().run(d.x); sf17::barrier(d.comm); sf17::diagnosis(d.x, d.comm);",
    "std::vector<double, sf17::Allocator<double>> v(3); sf17::allreduce(v, sf17::plus, d.comm); sf17::allocate<int>(3);",
]


def said_of(compiler, source, standard="c++20", *flags):
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "calls.cpp"
        path.write_text(source)
        words = [compiler, f"-std={standard}", *flags, *FLAGS, path]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    return done.stderr


def source_of(statements, opening=OPENING):
    return opening + "".join(f"void call{i}([[maybe_unused]] Data& d) {{ {s} }}\n" for i, s in enumerate(statements))


def errors_in(text):
    return [line for line in text.splitlines() if "error:" in line]


class Diagnostics(unittest.TestCase):
    def each_compiler(self, check):
        self.assertTrue(COMPILERS)
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                check(compiler)

    def test_calls_that_compile(self):
        self.each_compiler(
            lambda compiler: self.assertEqual(said_of(compiler, source_of(ACCEPTED), "c++20", *WARNINGS), ""))

    def test_calls_that_are_answered_by_one_error(self):
        def check(compiler):
            no_limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
            text = said_of(compiler, source_of([statement for statement, _ in REFUSED]), "c++20", no_limit)
            errors = errors_in(text)
            for statement, words in REFUSED:
                found = next((error for error in errors if words in error), None)
                self.assertIsNotNone(found, f"{statement}: no '{words}' in\n" + "\n".join(errors))
                errors.remove(found)
            self.assertEqual(errors, [], "more than one error for a call")
            self.assertLess(len(text.splitlines()), MOST_LINES * len(REFUSED), text)

        self.each_compiler(check)

    def test_an_older_standard_is_one_error(self):
        def check(compiler):
            for header in sorted(path.name for path in (INCLUDE / "steadfold").glob("*.hpp")):
                older = "c++14" if header.startswith(OF_CXX17) else "c++17"
                errors = errors_in(said_of(compiler, f"#include <steadfold/{header}>\n", older))
                self.assertEqual(len(errors), 1, errors)
                self.assertIn("Steadfold needs C++20", errors[0])

        self.each_compiler(check)

    def test_calls_of_cxx17(self):
        """Compile as C++17 without a warning; others get an error that helps."""
        def check(compiler):
            source = "#include <steadfold/cxx17_mpi.hpp>\n" + source_of(ACCEPTED_CXX17, OPENING_CXX17)
            self.assertEqual(said_of(compiler, source, "c++17", *WARNINGS), "")
            refused = source_of([statement for statement, _ in REFUSED_CXX17], OPENING_CXX17)
            no_limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
            errors = errors_in(said_of(compiler, "#include <steadfold/cxx17_mpi.hpp>\n" + refused, "c++17", no_limit))
            for statement, words in REFUSED_CXX17:
                found = next((error for error in errors if words in error), None)
                self.assertIsNotNone(found, f"{statement}: no '{words}' in\n" + "\n".join(errors))
                errors.remove(found)  # the next one has its own

        self.each_compiler(check)


if __name__ == "__main__":
    unittest.main()
