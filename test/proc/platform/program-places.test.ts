/** Tests of the paths by which the machines of a program name its modules. */
import { expect, test } from "vitest";
import {
  locateModule,
  locatePath,
  originOfModule,
  ownScheme,
  type ProgramPlaces,
  placesOfNext,
} from "../../../runtime/proc/platform/program-places.js";

const own = locateModule(ownScheme);
const places: ProgramPlaces = [
  { from: "file:///app/", to: "file:///store/tree/" },
  { from: "file:///packages/linked/", to: "file:///store/tree/node_modules/linked/" },
  { from: "file:///app/node_modules/viceroy/dist/", to: ownScheme },
];

test.each([
  ["file:///app/src/a.ts", "file:///store/tree/src/a.ts"],
  ["file:///packages/linked/index.js", "file:///store/tree/node_modules/linked/index.js"],
  ["file:///app/node_modules/viceroy/dist/boot.cjs", `${own}boot.cjs`],
  ["file:///elsewhere/a.ts", "file:///elsewhere/a.ts"],
])("%s is the module %s here, by the innermost folder, and back", (origin, here) => {
  expect(locateModule(origin, places)).toBe(here);
  expect(originOfModule(here, places)).toBe(origin);
});

test.each([
  ["/app", "/store/tree/"],
  ["/app/src", "/store/tree/src"],
  ["/app2", "/app2"],
  ["/app/node_modules/viceroy/dist/boot.cjs", "/store/tree/node_modules/viceroy/dist/boot.cjs"],
])("the folder or file %s is %s here", (origin, here) => {
  expect(locatePath(origin, places)).toBe(here);
});

test("a machine that got the code by way of another one finds modules by the paths of both", () => {
  const next = placesOfNext(
    [
      { from: "file:///store/tree/", to: "file:///next/tree/" },
      { from: own, to: ownScheme },
    ],
    places,
  );
  expect(locateModule("file:///app/src/a.ts", next)).toBe("file:///next/tree/src/a.ts");
  expect(locateModule("file:///store/tree/src/a.ts", next)).toBe("file:///next/tree/src/a.ts");
  expect(locateModule("file:///packages/linked/b.ts", next)).toBe("file:///next/tree/node_modules/linked/b.ts");
  expect(locateModule("file:///app/node_modules/viceroy/dist/boot.cjs", next)).toBe(`${own}boot.cjs`);
  // Other processes know modules by the paths of the machine where the program comes from.
  expect(originOfModule("file:///next/tree/src/a.ts", next)).toBe("file:///app/src/a.ts");
  expect(originOfModule(`${own}boot.cjs`, next)).toBe("file:///app/node_modules/viceroy/dist/boot.cjs");
});

test("a folder of the first machine that the next one does not get keeps its path", () => {
  const next = placesOfNext([{ from: "file:///store/tree/src/", to: "file:///next/src/" }], places);
  expect(locateModule("file:///packages/linked/b.ts", next)).toBe("file:///packages/linked/b.ts");
  expect(next).toHaveLength(1);
});
