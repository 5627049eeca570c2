/** The codecs of the arguments and the result of a task. */
import type { ContextMember } from "./context/member.js";
import type { ValueCodec } from "./refs/value-codec.js";
import { optionalCodec, schemaCodec } from "./schema-codec.js";
import type { Task } from "./task-object.js";

/** @param index the position of the argument, from 0 */
export function argumentCodec(task: Task, index: number, member: ContextMember): ValueCodec {
  const { schema } = task;
  if (schema === undefined) return member.refs.plain;
  const codec = schema.args[index];
  if (codec === undefined) {
    throw new TypeError(
      `cannot run ${task.name}: expected at most ${schema.args.length} arguments, got one more at position ${index}`,
    );
  }
  return index < schema.minArgs ? schemaCodec(codec) : optionalCodec(codec);
}

export function resultCodec(task: Task, member: ContextMember): ValueCodec {
  const { schema } = task;
  return schema === undefined ? member.refs.plain : schemaCodec(schema.result);
}
