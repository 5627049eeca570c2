/** Shapes as `console.log` and errors print them. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Point, range, ValueMesh } from "../../runtime/shape/index.js";

test("console.log prints points, ranges and meshes of values as text, not as objects", () => {
  expect(inspect(new Point({ hosts: 1, gpus: 2 }, 1))).toBe("Point {'hosts': 0/1, 'gpus': 1/2}");
  expect(inspect(range(2, 8, 3))).toBe("range(2, 8, 3)");
  expect(inspect(range(2, 8))).toBe("range(2, 8)");
  expect(inspect(ValueMesh.of({ gpus: 2 }, [7, 8]))).toBe(
    "ValueMesh {'gpus': 2}\nrank  gpus  value\n0     0     7\n1     1     8",
  );
});

test("a value takes one line of the table, and long values are cut", () => {
  const long = Array.from({ length: 30 }, (_, i) => ({ name: `number ${i}`, deep: { deeper: { deepest: [i] } } }));
  const table = ValueMesh.of({ gpus: 1 }, [long]).toTable();
  expect(table.split("\n")).toHaveLength(2);
  expect(table).toContain("{ name: 'number 7', deep: { deeper: [Object] } }, ... 22 more items ]");
});
