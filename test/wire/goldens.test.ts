/** Code generated for schemas with every kind of type, compared with the codecs of the parts. */
import * as choices from "../compiler/emit/golden/choices/expected/choices.js";
import * as collections from "../compiler/emit/golden/collections/expected/collections.js";
import * as generics from "../compiler/emit/golden/generics/expected/generics.js";
import * as boxes from "../compiler/emit/golden/generics/expected/lib/boxes.js";
import * as inlining from "../compiler/emit/golden/inlining/expected/inlining.js";
import * as presence from "../compiler/emit/golden/presence/expected/presence.js";
import * as first from "../compiler/emit/golden/recursion/expected/a.js";
import * as second from "../compiler/emit/golden/recursion/expected/b.js";
import * as scalars from "../compiler/emit/golden/scalars/expected/scalars.js";
import { compareCodecs, isGenerated } from "./compare-codecs.js";

const modules: Readonly<Record<string, object>> = {
  choices,
  collections,
  generics,
  boxes,
  inlining,
  presence,
  first,
  second,
  scalars,
};

compareCodecs(
  new Map(
    Object.entries(modules).flatMap(([module, exported]) =>
      Object.values(exported as Readonly<Record<string, unknown>>)
        .filter(isGenerated)
        .map((codec) => [`${codec.name} of ${module}`, codec]),
    ),
  ),
);
