/**
 * The functions of Node's `Buffer` that codecs use, for browsers. The bundle for browsers replaces the global `Buffer` and
 * `node:buffer` with this module.
 */

const encoder = new TextEncoder();
/** Replaces invalid bytes with U+FFFD, and keeps a byte order mark, like `Buffer`. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The number of UTF-16 units that are passed to `String.fromCharCode` at once: engines limit the number of arguments. */
const UNITS_AT_ONCE = 4096;

class TextBytes extends Uint8Array {
  override toString(encoding?: "base64"): string {
    return encoding === "base64" ? btoa(this.latin1Slice(0, this.length)) : this.utf8Slice(0, this.length);
  }

  latin1Write(text: string, offset: number, length: number): number {
    for (let i = 0; i < length; i++) this[offset + i] = text.charCodeAt(i);
    return length;
  }

  utf8Write(text: string, offset: number, length: number): number {
    return encoder.encodeInto(text, this.subarray(offset, offset + length)).written;
  }

  ucs2Write(text: string, offset: number, length: number): number {
    for (let i = 0; i < length / 2; i++) {
      const unit = text.charCodeAt(i);
      this[offset + 2 * i] = unit;
      this[offset + 2 * i + 1] = unit >> 8;
    }
    return length;
  }

  latin1Slice(start: number, end: number): string {
    // The decoder for Latin-1 in browsers reads Windows-1252.
    let text = "";
    for (let at = start; at < end; at += UNITS_AT_ONCE) {
      text += String.fromCharCode(...this.subarray(at, Math.min(end, at + UNITS_AT_ONCE)));
    }
    return text;
  }

  utf8Slice(start: number, end: number): string {
    return decoder.decode(this.subarray(start, end));
  }

  ucs2Slice(start: number, end: number): string {
    let text = "";
    for (let at = start; at < end; at += 2 * UNITS_AT_ONCE) {
      const units = new Uint16Array(this.slice(at, Math.min(end, at + 2 * UNITS_AT_ONCE)).buffer);
      text += String.fromCharCode(...units);
    }
    return text;
  }
}

export const Buffer = {
  prototype: TextBytes.prototype,

  allocUnsafeSlow(size: number): TextBytes {
    return new TextBytes(size);
  },

  /** Decodes base64 of both alphabets, or returns a view of memory. */
  from(source: string | ArrayBuffer, encodingOrOffset: "base64" | number, length?: number): TextBytes {
    if (typeof source !== "string") return new TextBytes(source, encodingOrOffset as number, length);
    const text = atob(source.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, ""));
    const bytes = new TextBytes(text.length);
    bytes.latin1Write(text, 0, text.length);
    return bytes;
  },

  concat(parts: readonly Uint8Array[]): TextBytes {
    const whole = new TextBytes(parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  },
};

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 128);
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
