/** Generated codecs find the path of an error with their composed codec: also in recursive types and in long lists. */
import { expect, test } from "vitest";
import { type Codec, codec, GeneratedCodec, type Reader, type Writer } from "../../runtime/wire/index.js";
import { messageOf } from "./protobuf/message-bytes.js";

interface Tree {
  n: number;
  children: Tree[];
}

/** The generated codec of `Tree`, which calls composed codecs. */
class TreeCodec extends GeneratedCodec<Tree> {
  readonly #fields = codec.tuple(codec.int32, codec.array<Tree>(this));

  constructor() {
    super("Tree", 1n, { slot: 5, recursive: true });
  }

  shape(): Codec<Tree> {
    return codec.object<Tree>("Tree", () => ({ n: codec.int32, children: codec.array<Tree>(this) }));
  }

  write(w: Writer, at: number, { n, children }: Tree): void {
    w.enter();
    this.#fields.write(w, at, [n, children]);
    w.leave();
  }

  read(r: Reader, at: number): Tree {
    r.enter();
    const [n, children] = this.#fields.read(r, at);
    r.leave();
    return { n, children };
  }
}

/** The generated codec of a type that is not recursive. */
class LeafCodec extends GeneratedCodec<{ n: number }> {
  constructor() {
    super("Leaf", 2n, { slot: 4 });
  }

  shape(): Codec<{ n: number }> {
    return codec.object("Leaf", { n: codec.int32 });
  }

  write(w: Writer, at: number, { n }: { n: number }): void {
    w.putInt32(at, n);
  }

  read(r: Reader, at: number): { n: number } {
    const n = r.view.getInt32(at, true);
    if (n < 0) r.refuse();
    return { n };
  }
}

const tree = new TreeCodec();
const leaf = new LeafCodec();
const int32 = "invalid int32: expected an integer from -2147483648 to 2147483647";
const nested = (depth: number): Tree => ({ n: depth, children: depth === 1 ? [] : [nested(depth - 1)] });

test("a recursive type nests 256 levels, and deeper values are refused with the path", () => {
  expect([tree.slot, tree.shape().slot, leaf.slot, leaf.shape().slot]).toEqual([5, 5, 4, 4]);
  expect(tree.decode(tree.encode(nested(256)))).toEqual(nested(256));
  const some = ".children[0]".repeat(6);
  expect(messageOf(() => tree.encode(nested(257)))).toBe(
    `CodecError: cannot encode Tree${some} … 488 more … ${some}: nested deeper than 256`,
  );
});

test("siblings do not add depth while the path of an error is searched", () => {
  const children = Array.from({ length: 300 }, (_, n) => ({ n, children: [] }));
  const wrong = [...children, { n: 0.5, children: [] }];
  expect(messageOf(() => tree.encode({ n: 0, children: wrong }))).toBe(
    `CodecError: cannot encode Tree.children[300].n: ${int32}, got 0.5`,
  );
  const bytes = tree.encode({ n: 0, children });
  expect(messageOf(() => tree.decode(Uint8Array.from([...bytes, 0])))).toBe(
    "CodecError: cannot decode Tree: there is more than the value needs",
  );
  const leaves = codec.array<{ n: number }>(leaf);
  expect(messageOf(() => leaves.encode([...children, { n: 0.5 }]))).toBe(
    `CodecError: cannot encode Leaf[][300].n: ${int32}, got 0.5`,
  );
  const short = leaves.encode(children);
  expect(messageOf(() => leaves.decode(Uint8Array.from([...short, 0])))).toBe(
    "CodecError: cannot decode Leaf[]: there is more than the value needs",
  );
});

test("bytes that nest deeper than 256 levels are refused with the path", () => {
  // Each level says that it has one child.
  const bytes = new Uint8Array(5 * 300).fill(0);
  for (let at = 4; at < bytes.length; at += 5) bytes[at] = 1;
  expect(messageOf(() => tree.decode(bytes))).toContain("nested deeper than 256");
  expect(messageOf(() => tree.decode(bytes))).toContain("cannot decode Tree.children[0].children[0]");
});
