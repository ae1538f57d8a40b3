"""File formats as seen from the command: every format gives the bits of its numbers, on one rank and on several."""

import gzip
import io
import struct
import unittest
import zipfile

from support import CommandTest, binpsllh, bits, bits32, exact, hostile, npy, run, tree


class Formats(CommandTest):
    def setUp(self):
        super().setUp()
        self.values = hostile(211)
        self.expected = bits(tree(self.values))

    def expect(self, path, *arguments):
        for found in self.sums(path, [(["--method", "tree", *arguments], ranks) for ranks in (None, 3)]):
            self.assertEqual(found["bits"], self.expected, (path.name, arguments, found["ranks"]))
            self.assertEqual(found["elements"], len(self.values))

    def test_npy(self):
        for version in (1, 2, 3):
            self.expect(self.write("x.npy", npy(self.values, version=version)))
        self.expect(self.write("x.npy", npy(self.values, ">f8")))
        self.expect(self.write("data", npy(self.values)))
        self.expect(self.write("x.npy", npy(self.values, shape=(1, 211))))
        self.expect(self.write("x.dat", npy(self.values)), "--format", "npy")

    def test_npy_in_fortran_order(self):
        rows, columns = 30, 7  # 210 of 211
        values = self.values[: rows * columns]
        stored = [values[row * columns + column] for column in range(columns) for row in range(rows)]
        for descr in ("<f8", ">f8"):
            path = self.write("x.npy", npy(stored, descr, shape=(rows, columns), fortran=True))
            for found in self.sums(path, [(["--method", "tree"], ranks) for ranks in (None, 3)]):
                self.assertEqual(found["bits"], bits(tree(values)), (descr, found["ranks"]))

    def test_npy_of_integers(self):
        """They are summed as doubles, so that no sum wraps."""
        for descr, values in (
            ("|i1", [-128, 127, 5]), ("|u1", [255, 255, 3]), ("<i2", [-32768, 1]), (">u2", [65535, 65535]),
            (">i4", [-(2**31), 7]), ("<u4", [2**32 - 1] * 3), ("<i8", [2**62, 2**62, 2**62, -3]), (">u8", [2**63, 2**63, 1]),
        ):  # fmt: skip
            path = self.write("x.npy", npy(values, descr))
            found = self.sum(path)
            self.assertEqual((found["bits"], found["type"]), (bits(float(sum(values))), "f64"), descr)
        for found in self.sums(path, [(["--method", method], 3) for method in ("exact", "tree", "binned", "plain")]):
            self.assertEqual(found["bits"], bits(2.0**64), found["method"])

    def test_binary(self):
        self.expect(self.write("x.binpsllh", binpsllh(self.values)))
        self.expect(self.write("x", binpsllh(self.values)))
        self.expect(self.write("x.raw", binpsllh(self.values)[8:]))
        self.expect(self.write("x.dat", binpsllh(self.values)[8:]), "--format", "raw")

    def test_psllh(self):
        for separator in ("\n", " ", "\r\n", "\t\n"):
            text = f"{len(self.values)}{separator}" + separator.join(map(repr, self.values))
            self.expect(self.write("x.psllh", text))
        self.expect(self.write("x.txt", text), "--format", "psllh")

    def test_csv(self):
        for end in ("\n", "\r\n"):
            rows = [f'"site {i}, left",{value!r},{i}' for i, value in enumerate(self.values)]
            path = self.write("x.csv", end.join(["site,value,number", *rows, ""]))
            self.expect(path, "--column", "value")
            self.expect(path, "--column", "1")
        self.expect(self.write("x.csv", "\n".join(["value", *map(repr, self.values)])))
        path = self.write("x.csv", "\n".join(map(repr, self.values)))  # line 1 is a number
        self.expect(path)
        self.expect(path, "--column", "0", "--header", "no")
        for arguments, said in (([], "no"), (["--header", "yes"], "yes")):
            self.assertEqual(self.sums(path, [(arguments, None)])[0]["header"], said)

    def test_tables_as_pandas_and_r_write_them(self):
        for content, arguments, expected in (
            (",0,1\n0,1.5,10\n1,2.5,20\n", ["--column", "2", "--header", "yes"], 30.0),
            (",a,b\n0,1.5,10\n1,2.5,20\n", ["--column", "2"], 30.0), ("a,2020\n1.5,10\n2.5,20\n", ["--column", "1"], 30.0),
            ('"","x"\n"1",10\n"2",20\n', ["--column", "1"], 30.0), ("9007199254740993.0\n0.5\n", [], 9007199254740992.0),
            ("\ufeffx,y\r\n1,10\r\n2,20\r\n", ["--column", "y"], 30.0),
        ):  # fmt: skip
            self.assertEqual(self.sum(self.write("x.csv", content), *arguments)["value"], expected, content)

    def test_tsv(self):
        rows = [f'"site\t{i}"\t{value!r}\t' for i, value in enumerate(self.values)]
        path = self.write("x.tsv", "\n".join(["site\tvalue\tnote", *rows]))
        self.expect(path, "--column", "value")
        self.expect(path, "--column", "1")
        self.expect(self.write("x.txt", path.read_text()), "--format", "tsv", "--column", "value")
        self.expect(self.write("y.tsv", "\n".join(map(repr, self.values))))

    def test_tables_of_other_programs(self):
        """What was decided about a table stands in the report."""
        text = "\n".join(["# made by hand", "", *(f"  {i}  {value!r}\t# row {i}" for i, value in enumerate(self.values))])
        for name in ("x.txt", "x.dat"):
            self.expect(self.write(name, text), "--column", "1")
        hexadecimal = [f"{value.hex()};NA" for value in self.values]
        self.expect(self.write("x.csv", "\n".join(["a;b", *hexadecimal])), "--separator", "semicolon", "--column", "a")
        fortran = [f"{value:.17e}".replace("e", "D") + "|" for value in self.values]
        self.expect(self.write("x.csv", "\n".join(fortran)), "--separator", "|", "--column", "0")
        rows = [row for value in self.values for row in (repr(value).replace(".", ","), "NA", "")]
        path = self.write("x.csv", "\n".join(["% made by hand", "n;v", *(f"{i};{row}" for i, row in enumerate(rows))]))
        arguments = ["--separator", "semicolon", "--decimal", "comma", "--comment", "%", "--column", "v", "--missing", "NA;"]
        self.expect(path, *arguments)
        for found in self.sums(path, [(arguments, ranks) for ranks in (None, 3, 5)]):
            decided = {name: found[name] for name in ("header", "separator", "decimal", "comment", "missing")}
            self.assertEqual(decided, {"header": "yes", "separator": "semicolon", "decimal": "comma", "comment": "%", "missing": 422})

    def test_compressed_files(self):
        """The report names the compression and the number of unpacked bytes."""
        text = "\n".join(["a,b", *(f"{i},{value!r}" for i, value in enumerate(self.values))])
        for name, content, arguments in (
            ("x.npy.gz", npy(self.values), []), ("x.csv.gz", text.encode(), ["--column", "b"]),
            ("x.csv", text.encode(), ["--column", "1"]), ("x.raw.gz", binpsllh(self.values)[8:], []),
        ):  # fmt: skip
            half = len(content) // 2
            path = self.write(name, gzip.compress(content[:half]) + gzip.compress(content[half:]))
            self.expect(path, *arguments)
            for found in self.sums(path, [(arguments, 3)]):
                self.assertEqual((found["compression"], found["unpacked_bytes"]), ("gzip", len(content)))

    def test_npz(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", method) as archive:
                for name, values in (("few", [1.0, 2.0]), ("all", self.values)):
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        member.write(npy(values))
            path = self.write("x.npz", file.getvalue())
            for chosen in ("all", "1"):
                self.expect(path, "--column", chosen)
            for found in self.sums(path, [(["--column", "few"], ranks) for ranks in (None, 3)]):
                told = (found["value"], found["member"], found.get("compression"))
                self.assertEqual(told, (3.0, "few", "deflate" if method else None))
            self.expect_fault(run("sum", path), "the 2 members are 'few', 'all'", "--column")
            self.expect_fault(run("sum", self.write("x.npz", file.getvalue()[:-30])), "no directory at its end")

    def test_sitelh(self):
        numbers = " ".join(map(repr, self.values))
        self.expect(self.write("x.sitelh", f"1 {len(self.values)}\nSite_Lh   {numbers}\n"))
        path = self.write("RAxML_perSiteLLs.T", f"  2  {len(self.values)}\ntr1\t{numbers} \ntr2\t{'-1 ' * len(self.values)}\n")
        self.expect(path, "--column", "tr1")
        for found in self.sums(path, [(["--column", "1"], ranks) for ranks in (None, 3)]):
            self.assertEqual((found["value"], found["tree"]), (-len(self.values), "tr2"))
        self.expect_fault(run("sum", path), "the 2 trees are 'tr1', 'tr2'", "--column")

    def test_raw_bytes_of_another_format(self):
        path = self.write("x.npy", npy(self.values, "<f8"))
        self.assertEqual(self.sums(path, [(["--format", "raw", "--force"], None)])[0]["elements"], len(self.values) + 16)

    def test_floats(self):
        floats = [struct.unpack("<f", struct.pack("<f", value * 1e-9))[0] for value in self.values]
        raw = struct.pack(f"<{len(floats)}f", *floats)
        for path, arguments in (
            (self.write("x.raw", raw), ["--type", "f32"]),
            (self.write("x.npy", npy(floats, "<f4")), []),
            (self.write("y.npy", npy(floats, ">f4")), ["--type", "f32"]),
        ):
            for found in self.sums(path, [(arguments, ranks) for ranks in (None, 3)]):
                self.assertEqual(found["bits"], bits32(exact(floats)))

    def test_text_values(self):
        path = self.write("x.psllh", "4\n1e-400 +2.5 .5 1.\n")
        self.assertEqual(self.sum(path)["value"], 4.0)
        for word, expected in (("nan", "7FF8000000000000"), ("-inf", "FFF0000000000000"), ("inf", "7FF0000000000000")):
            self.assertEqual(self.sum(self.write("x.psllh", f"2\n1\n{word}\n"), ranks=2)["bits"], expected)


if __name__ == "__main__":
    unittest.main()
