import { expect, test } from "vitest";
import { type TreeEntry, type TreeManifest, TreeManifestCodec } from "../../../generated/sync.js";
import { digestOf, joinDigests } from "../../../runtime/sync/tree/digest.js";
import { checkAddress, chunksIn, decodeManifest, encodeManifest } from "../../../runtime/sync/tree/manifest.js";
import { comparePaths, followLink, refusePath } from "../../../runtime/sync/tree/tree-path.js";

const file = (path: string, mode = 0o644): TreeEntry => ({
  path,
  mode,
  digests: joinDigests([digestOf(Buffer.from(path))]),
  sizes: [path.length],
});
const link = (path: string, target: string): TreeEntry => ({
  path,
  link: target,
  digests: new Uint8Array(0),
  sizes: [],
});

/** Decodes what a hostile host could send: a manifest with the right digest. */
function decode(manifest: Partial<TreeManifest>): TreeManifest {
  const bytes = TreeManifestCodec.toProtobuf({ format: 1, entries: [], ...manifest });
  return decodeManifest(bytes, digestOf(bytes));
}

function refusal(entries: TreeEntry[]): string {
  try {
    decode({ entries });
  } catch (error) {
    return (error as Error).message.replace(/^cannot use tree [0-9a-f]{12}: /, "");
  }
  return "accepted";
}

test("a manifest is read as it was written, and its id never changes", () => {
  const entries = [
    link("a", "b/c"),
    file("b/c"),
    file("b/run", 0o755),
    { path: "empty", mode: 0o600, digests: new Uint8Array(0), sizes: [] },
  ];
  const { id, bytes, address } = encodeManifest(entries);
  expect(id).toBe("c6cb3770e65bed8755cc715b5420a2456156821335a5aff584249d91d8254213");
  expect(checkAddress(address)).toBe(id);
  expect(chunksIn(address)).toEqual([{ digest: id, size: bytes.length }]);
  expect(decodeManifest(bytes, id).entries.map(({ path, link, mode }) => [path, link ?? mode])).toEqual([
    ["a", "b/c"],
    ["b/c", 0o644],
    ["b/run", 0o755],
    ["empty", 0o600],
  ]);
});

test.each<readonly [string, TreeEntry[], string]>([
  ["an absolute path", [file("/etc/passwd")], 'its entry "/etc/passwd" is refused: the path is absolute'],
  ["a parent", [file("a/../../b")], 'its entry "a/../../b" is refused: the path contains the name ".."'],
  ["a dot", [file("./a")], 'its entry "./a" is refused: the path contains the name "."'],
  ["a NUL", [file("a\0b")], 'its entry "a\\u0000b" is refused: the path contains a NUL character'],
  ["an empty path", [file("")], 'its entry "" is refused: the path is empty'],
  ["an empty name", [file("a//b")], 'its entry "a//b" is refused: the path contains an empty name'],
  ["a folder", [file("a/")], 'its entry "a/" is refused: the path contains an empty name'],
  ["a path twice", [file("a"), file("a")], 'its entry "a" is refused: the path is there twice'],
  ["a wrong order", [file("b"), file("a")], 'its entry "a" is refused: the paths are not in order'],
  [
    "a file as a folder",
    [file("a"), file("a/b")],
    'its entry "a" is refused: it is a file or link, and the folder of other entries',
  ],
  [
    "a link as a folder",
    [link("a", "c"), file("a/b")],
    'its entry "a" is refused: it is a file or link, and the folder of other entries',
  ],
  [
    "an absolute link",
    [link("a", "/etc")],
    'its entry "a" is refused: the link is not safe: its target is absolute, got "/etc"',
  ],
  [
    "an escaping link",
    [link("a/b", "../../x")],
    'its entry "a/b" is refused: the link is not safe: it leads out of the tree',
  ],
  ["an empty link", [link("a", "")], 'its entry "a" is refused: the link is not safe: its target is empty'],
  [
    "a link with a NUL",
    [link("a", "b\0")],
    'its entry "a" is refused: the link is not safe: its target contains a NUL character',
  ],
  [
    "a loop",
    [link("a", "b"), link("b", "a")],
    'its entry "a" is refused: the link is not safe: it leads to itself through other links',
  ],
  [
    "a link through a link",
    [link("a", "d/e"), link("b", "a/../../../x")],
    'its entry "b" is refused: the link is not safe: it leads out of the tree',
  ],
  [
    "a set-user-id bit",
    [file("a", 0o4755)],
    'its entry "a" is refused: its mode has more than permission bits, got 0o4755',
  ],
  [
    "no kind",
    [{ path: "a", digests: new Uint8Array(0), sizes: [] }],
    'its entry "a" is refused: it is neither a file nor a link',
  ],
  ["a link with content", [{ ...link("a", "b"), sizes: [1] }], 'its entry "a" is refused: a link has content'],
  [
    "half a digest",
    [{ path: "a", mode: 0, digests: new Uint8Array(33), sizes: [1] }],
    'its entry "a" is refused: it has 1 sizes of chunks for 33 bytes of digests',
  ],
  [
    "a huge chunk",
    [{ path: "a", mode: 0, digests: new Uint8Array(32), sizes: [262_145] }],
    'its entry "a" is refused: a chunk has a size from 1 to 262144, got 262145',
  ],
  [
    "a long name",
    [file("a".repeat(256))],
    `its entry "${"a".repeat(100)}…" is refused: a name is longer than 255 bytes`,
  ],
  [
    "a long path",
    [file(`${"abc/".repeat(1024)}a`)],
    `its entry "${"abc/".repeat(25)}…" is refused: the path is longer than 4095 bytes`,
  ],
])("a hostile manifest with %s is refused", (_what, entries, message) => {
  expect(refusal(entries)).toBe(message);
});

test("harmless links and names are accepted", () => {
  const links = [link("a", "./b/../b/c"), link("b/up", "../a"), link("z", "nowhere")];
  const entries = [file("..a"), ...links, file("b/c"), file("\u00fc\ud83d\ude00")];
  expect(refusal(entries.sort((left, right) => comparePaths(left.path, right.path)))).toBe("accepted");
});

test("bytes with another digest, damaged bytes and unknown formats are refused", () => {
  const { id, bytes } = encodeManifest([file("a")]);
  const other = bytes.slice();
  other[other.length - 1]! ^= 1;
  expect(() => decodeManifest(other, id)).toThrow(
    `cannot use tree ${id.slice(0, 12)}: its manifest is refused: its bytes have the digest ${digestOf(other)}`,
  );
  const damaged = bytes.subarray(0, bytes.length - 1);
  expect(() => decodeManifest(damaged, digestOf(damaged))).toThrow(
    /^cannot use tree [0-9a-f]{12}: its manifest is refused: /,
  );
  expect(() => decode({ format: 2 })).toThrow("its format is unknown, expected 1, got 2; use one version of Viceroy");
});

test("addresses of trees that another process has sent are checked", () => {
  const { address } = encodeManifest([file("a")]);
  expect(() => checkAddress({ ...address, digest: new Uint8Array(31) })).toThrow(
    "cannot use a tree: its id must have 32 bytes, got 31",
  );
  expect(() => checkAddress({ ...address, sizes: [] })).toThrow("it has 0 sizes of chunks for 32 bytes of digests");
  const huge = { ...address, digests: new Uint8Array(32 * 1025), sizes: Array.from({ length: 1025 }, () => 262_144) };
  expect(() => checkAddress(huge)).toThrow("its manifest is refused: it has more than 268435456 bytes, got 268697600");
});

test("paths are ordered by their bytes in UTF-8", () => {
  const paths = ["a", "a.b", "a/b", "aa", "\uffee", "\ud83d\ude00", "\ud83d\ude00a", "ä"];
  const byBytes = [...paths].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  expect([...paths].sort(comparePaths)).toEqual(byBytes);
});

test("Windows reserves more characters", () => {
  expect(refusePath("a\\..\\b", "win32")).toBe("the path contains a character that Windows reserves");
  expect(refusePath("a:b", "win32")).toBe("the path contains a character that Windows reserves");
  expect(refusePath("a\\x2db", "linux")).toBeUndefined();
  expect(refusePath("\ud83d", "linux")).toBe("the path is not valid Unicode");
});

test("a chain of 40 links is followed, a longer one is refused", () => {
  const targetOf = (length: number) => (path: string) => (Number(path) < length ? String(Number(path) + 1) : undefined);
  expect(followLink("0", targetOf(40))).toEqual({ path: "40" });
  expect(followLink("0", targetOf(41))).toEqual({ refused: "it leads to itself through other links" });
});
