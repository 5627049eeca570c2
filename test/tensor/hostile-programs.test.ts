/** Hostile programs: a batch with an invalid program or replay is refused as a whole, with a reason, and has no effect. */
import { expect, test } from "vitest";
import type { torch } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import { describeTensors } from "./addon.js";
import { CommandBuilder, type ProgramParts } from "./command-builder.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";
import { submitChanged } from "./submit-changed.js";

const body = () => new CommandBuilder();
/** A site, `relu` as operation 0, `add.Tensor` as operation 1, and the tensors 1 and 2. */
const start = () =>
  new CommandBuilder().site("here").op("aten::relu").op("aten::add", "Tensor").put(1, -1, 2).put(2, 3, -4);

/** relu of the argument, which is kept. */
const relu: ProgramParts = { arguments: 1, locals: 1, body: body().call(0).reference(1).results(2), kept: [2] };
/** Replaces a gradient by the sum of itself and the argument. */
const accumulate: ProgramParts = {
  arguments: 1,
  gradients: 1,
  locals: 1,
  numbers: 1,
  body: body().call(1).reference(1).reference(2).u8(16).results(3).drop(2),
  replacements: [3],
};
const defined = () => start().define(1, relu).define(2, accumulate);

async function fetch(pair: RecorderAndWorker, reference: number): Promise<unknown> {
  const tensor = (await addon().fetchTensor(pair.stream, reference)) as ReturnType<typeof torch.ones>;
  return tensor.toArray();
}

describeTensors("programs", () => {
  test("are replayed with other arguments and numbers, and replace gradients", async () => {
    using pair = new RecorderAndWorker();
    await pair.submit(
      defined()
        .replay(1, [1], 10)
        .replay(1, [2], 20)
        .bind(2, 2)
        .replay(2, [1], 30, [10])
        .replay(2, [1], 30, [1])
        .done(),
    );
    expect(await fetch(pair, 10)).toEqual([0, 2]);
    expect(await fetch(pair, 20)).toEqual([3, 0]);
    // Twice: tensor 1 + number * tensor 2.
    expect(await fetch(pair, 2)).toEqual([28, -36]);
    expect(await pair.counts()).toEqual({ tensors: 4, calls: 4 });
  });

  test("keep their constants, which operations in place change in each replay", async () => {
    using pair = new RecorderAndWorker();
    const commands = start()
      .op("aten::relu_")
      .define(1, { locals: 1, body: body().put(1, -1, 5).call(2).reference(1).results(0), kept: [1] })
      .replay(1, [], 10)
      .replay(1, [], 20);
    await pair.submit(commands.done());
    const add = new CommandBuilder()
      .op("aten::add_", "Tensor")
      .call(3)
      .reference(10)
      .reference(10)
      .integer(1)
      .results(0);
    await pair.submit(add.replay(1, [], 30).done());
    expect([await fetch(pair, 10), await fetch(pair, 20), await fetch(pair, 30)]).toEqual([
      [0, 10],
      [0, 5],
      [0, 5],
    ]);
  });

  test("that are forgotten can be defined again", async () => {
    using pair = new RecorderAndWorker();
    await pair.submit(defined().forget(1).define(1, relu).replay(1, [1], 10).forget(1).done());
    await expect(pair.submit(new CommandBuilder().replay(1, [1], 20).done())).rejects.toThrow("there is no program 1");
  });

  const cases: [string, CommandBuilder, string][] = [
    ["a number twice", defined().define(1, relu), "there is a program 1 already"],
    ["an unknown program", defined().replay(3, [1], 10), "there is no program 3"],
    ["an unknown program to forget", defined().forget(3), "there is no program 3"],
    ["a forgotten program", defined().forget(1).replay(1, [1], 10), "there is no program 1"],
    ["too few arguments", defined().replay(1, [], 10), "the program takes another number of arguments"],
    ["too many numbers", defined().replay(1, [1], 10, [1]), "the program takes another number of arguments"],
    ["a missing argument", defined().replay(1, [9], 10), "there is no tensor 9"],
    ["an argument that is dropped", defined().drop(1).replay(1, [1], 10), "there is no tensor 1"],
    ["results that exist", defined().replay(1, [1], 2), "there is a tensor 2 already"],
    ["results of another replay", defined().replay(1, [1], 10).replay(1, [1], 10), "there is a tensor 10 already"],
    ["results with the number 0", defined().replay(1, [1], 0), "the numbers of its tensors are out of range"],
    ["numbers that overflow", defined().replay(1, [1], 2n ** 64n - 1n), "the numbers of its tensors are out of range"],
    ["gradients that are not bound", defined().replay(2, [1], 10, [1]), "the program has no gradients yet"],
    ["too few gradients", defined().bind(2), "a program has other gradients"],
    ["a gradient that is missing", defined().bind(2, 9).replay(2, [1], 10, [1]), "there is no tensor 9"],
    [
      "an argument as gradient",
      defined().bind(2, 1).replay(2, [1], 10, [1]),
      "a gradient is another tensor of the program",
    ],
    [
      "an external as gradient",
      start()
        .define(1, { ...accumulate, arguments: 0, externals: [1] })
        .bind(1, 1),
      "a gradient is another tensor of the program",
    ],
    ["a missing external", start().define(1, { externals: [9], body: body() }), "there is no tensor 9"],
    [
      "an external that is dropped",
      start()
        .define(1, { externals: [1], body: body() })
        .drop(1)
        .replay(1, [], 10),
      "there is no tensor 1",
    ],
    ["an unknown command", start().define(1, { body: body().u8(77) }), "a program contains another kind of command"],
    [
      "a definition",
      start().define(1, { body: body().op("aten::relu") }),
      "a program contains another kind of command",
    ],
    ["a replay of itself", defined().define(3, { body: body().replay(1, [], 1) }), "another kind of command"],
    ["an undefined operation", start().define(1, { body: body().call(7) }), "it calls an undefined operation"],
    ["slot 0", start().define(1, { ...relu, body: body().call(0).reference(0).results(2) }), "no tensor in slot 0"],
    ["a slot that is not there", start().define(1, { ...relu, arguments: 0 }), "no tensor in slot 1"],
    [
      "a local before it exists",
      start().define(1, { ...relu, body: body().call(0).reference(2).results(2) }),
      "slot 2",
    ],
    ["more locals than it says", start().define(1, { ...relu, locals: 0 }), "cannot create a tensor in slot 2"],
    [
      "a local twice",
      start().define(1, { ...relu, body: body().call(0).reference(1).results(2).call(0).reference(1).results(2) }),
      "cannot create a tensor in slot 2",
    ],
    [
      "a dropped argument",
      start().define(1, { arguments: 1, body: body().drop(1) }),
      "cannot drop the tensor in slot 1",
    ],
    [
      "a dropped external",
      start().define(1, { externals: [1], body: body().drop(1) }),
      "cannot drop the tensor in slot 1",
    ],
    ["a tensor that is left", start().define(1, { ...relu, kept: [] }), "a program keeps other tensors than it says"],
    ["a kept argument", start().define(1, { ...relu, kept: [1, 2] }), "a program keeps slot 1, which it cannot keep"],
    ["a tensor that is kept twice", start().define(1, { ...relu, kept: [2, 2] }), "a program keeps slot 2"],
    ["a tensor that is kept and replaces", start().define(1, { ...accumulate, kept: [3] }), "a program keeps slot 3"],
    ["a gradient without replacement", start().define(1, { ...accumulate, replacements: [] }), "keeps other tensors"],
    ["too few numbers", start().define(1, { ...accumulate, numbers: 0 }), "another number of numbers"],
    [
      "a number outside of a program",
      start().call(1).reference(1).reference(2).u8(16),
      "it takes a number of a replay outside of a program",
    ],
    [
      "a number as a tensor",
      start().define(1, { ...relu, numbers: 1, body: body().call(0).u8(16).results(2) }),
      "argument 'self' of aten::relu has a wrong type",
    ],
    [
      "very many numbers",
      start()
        .op("aten::_foreach_mul", "ScalarList")
        .define(1, { body: body().call(2).u8(13).u32(0).u8(17).u32(0xffffffff) }),
      "it takes too many numbers",
    ],
    ["very many arguments", start().define(1, { arguments: 0x7fffffff, body: body() }), "too many tensors or numbers"],
    ["very many locals", start().define(1, { locals: 0x7fffffff, body: body() }), "too many tensors or numbers"],
    [
      "a body that is too long",
      start().u8(7).u32(1).u32(0).u32(0).u32(0).u32(0).u32(0).u32(0xffffffff),
      "a count exceeds the remaining bytes",
    ],
    [
      "more programs than a worker holds",
      Array.from({ length: 1025 }).reduce<CommandBuilder>((all, _, i) => all.define(i, { body: body() }), start()),
      "there are too many programs",
    ],
  ];

  test.each(cases)("with %s are refused", async (_, commands, why) => {
    using pair = new RecorderAndWorker();
    const refused = pair.submit(commands.done());
    await expect(refused).rejects.toThrow("cannot execute commands for tensors: the command at byte ");
    await expect(refused).rejects.toThrow(why);
    expect(await pair.counts()).toEqual({ tensors: 0, calls: 0 });
    // Neither operations nor programs have been defined.
    await expect(pair.submit(new CommandBuilder().forget(1).done())).rejects.toThrow("there is no program 1");
  });

  test("whose batch is refused are neither forgotten nor bound to other gradients", async () => {
    using pair = new RecorderAndWorker();
    await pair.submit(defined().bind(2, 2).done());
    await expect(pair.submit(new CommandBuilder().bind(2, 1).forget(1).u8(77).done())).rejects.toThrow(
      "unknown command",
    );
    await pair.submit(new CommandBuilder().replay(1, [1], 10).replay(2, [1], 20, [0]).done());
    expect(await fetch(pair, 2)).toEqual([-1, 2]);
  });

  test("with randomly changed bytes end neither the process nor the stream", async () => {
    const whole = defined().bind(2, 2).replay(1, [1], 10).replay(2, [1], 20, [2]).forget(1).done();
    await submitChanged(whole, 4711);
  });
});
