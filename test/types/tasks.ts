/**
 * What is generated from the tasks of a schema, as types: an implementation gets the types of its arguments from the schema,
 * and must return the result of the schema. Checked by the type checker alone; nothing here runs.
 */
import type { Port, RdmaBuffer, TaskArguments, TaskDescriptor, TaskResult, TaskSchema } from "viceroy/codegen/v1";
import {
  type CircleTask,
  type CounterMesh,
  CountWordsTask,
  CutTask,
  JoinTask,
  type Page,
  type ReportTask,
  SquareTask,
  SweepTask,
} from "../compiler/emit/golden/tasks/expected/geometry.js";
import type { Line } from "../compiler/emit/golden/tasks/expected/shapes.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

type Signature<Schema extends TaskDescriptor> = (...args: TaskArguments<Schema>) => TaskResult<Schema>;

/** An implementation of a task, as `task` takes it. */
declare function implement<Schema extends TaskDescriptor>(
  schema: Schema,
  run: (...args: TaskArguments<Schema>) => TaskResult<Schema> | Promise<TaskResult<Schema>>,
): (...args: TaskArguments<Schema>) => Promise<TaskResult<Schema>>;

declare const line: Line;

/** The constants have the types of the schema. */
export function signatures(): void {
  same<Signature<typeof SquareTask>, (n: number) => number>(true);
  same<Signature<typeof CountWordsTask>, (text: string, shortest?: number) => Map<string, number>>(true);
  same<Signature<typeof SweepTask>, () => void>(true);
  same<Signature<typeof CutTask>, (line: Line, parts?: number) => Line[]>(true);
  same<Signature<typeof JoinTask>, (lines: Line[]) => Line | null>(true);
  same<Signature<typeof CircleTask>, (radius: number, steps?: number) => Page<Line>>(true);
  same<Signature<typeof ReportTask>, (to: Port<Line>, counters: CounterMesh, memory: RdmaBuffer) => RdmaBuffer>(true);
}

/** Implementations need no type annotations, synchronous and asynchronous ones. */
export function implementations(): void {
  const square = implement(SquareTask, async (n) => {
    same<typeof n, number>(true);
    return n * n;
  });
  same<typeof square, (n: number) => Promise<number>>(true);
  implement(SquareTask, (n) => n * n);
  implement(SquareTask, () => 1);
  implement(SweepTask, () => {});
  implement(SweepTask, async () => {});
  implement(CountWordsTask, (text, shortest = 1) => {
    same<typeof shortest, number>(true);
    return new Map([[text, shortest]]);
  });
  implement(JoinTask, async (lines) => lines[0] ?? null);

  // @ts-expect-error: the result is a number
  implement(SquareTask, async (n) => String(n));
  // @ts-expect-error: the result is a number in every case
  implement(SquareTask, (n) => (n > 0 ? n : "negative"));
  // @ts-expect-error: the result is a number in every case, without a promise too
  implement(SquareTask, async (n) => (n > 0 ? n : undefined));
  // @ts-expect-error: the argument is a number
  implement(SquareTask, (n: string) => n.length);
  // @ts-expect-error: there is one argument
  implement(SquareTask, (n, times: number) => n * times);
  // @ts-expect-error: there is no result
  implement(SweepTask, async () => 1);
  // @ts-expect-error: the second argument can be absent
  implement(CountWordsTask, (text, shortest: number) => new Map([[text, shortest]]));
}

/** Callers are checked, too. */
export function calls(): void {
  const cut = implement(CutTask, (whole) => [whole]);
  void cut(line);
  void cut(line, 2);
  void cut(line, undefined);
  // @ts-expect-error: no line
  void cut({ from: 1 });
  // @ts-expect-error: one too many
  void cut(line, 2, 3);
  // @ts-expect-error: one too few
  void cut();
}

/** A list can contain tasks of all types. */
export function lists(): void {
  const all: readonly TaskSchema<unknown[], unknown>[] = [SquareTask, SweepTask, CutTask];
  void all;
  // @ts-expect-error: a list of other results
  const numbers: readonly TaskSchema<unknown[], number>[] = [SquareTask, CutTask];
  void numbers;
}
