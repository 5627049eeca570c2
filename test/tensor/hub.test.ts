/** Where tensors change hands in a process: whoever comes first. No tensors are needed for that. */
import { expect, test } from "vitest";
import { type Brought, bring, endExchanges, take } from "../../runtime/tensor/hub.js";
import type { Tensor } from "../../runtime/tensor/tensor.js";

const tensors = (name: string): Brought => ({ tensors: [name as unknown as Tensor] });

test("what is brought is taken, in whichever order, and only once", async () => {
  const mesh = 1n;
  bring({ mesh, number: 1n }, tensors("first"));
  expect(await take({ mesh, number: 1n })).toEqual(tensors("first"));
  const second = take({ mesh, number: 2n });
  bring({ mesh, number: 2n }, Promise.resolve(tensors("second")));
  expect(await second).toEqual(tensors("second"));
  // Of another mesh, and of another number.
  bring({ mesh: 2n, number: 3n }, tensors("other"));
  bring({ mesh, number: 3n }, tensors("third"));
  bring({ mesh, number: 3n }, tensors("third again"));
  expect(await take({ mesh, number: 3n })).toEqual(tensors("third"));
  expect(await take({ mesh: 2n, number: 3n })).toEqual(tensors("other"));
});

test("what fails on its way is a failure", async () => {
  const key = { mesh: 3n, number: 1n };
  const failure = new Error("it was not computed");
  bring(key, Promise.reject(failure));
  expect(await take(key)).toEqual({ failure });
});

test("nobody waits for a mesh that has ended, before or after", async () => {
  const mesh = 4n;
  const before = take({ mesh, number: 1n });
  endExchanges(mesh);
  const failure = new Error("the mesh that the tensor is of is not active any more");
  expect(await before).toEqual({ failure });
  expect(await take({ mesh, number: 2n })).toEqual({ failure });
  bring({ mesh, number: 3n }, tensors("late"));
  expect(await take({ mesh, number: 3n })).toEqual({ failure });
});
