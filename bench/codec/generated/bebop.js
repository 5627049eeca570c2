/** Generated from ../messages.bop by bebopc 3.2.3 (`bebopc --include messages.bop build --generator ts:…`), types stripped. */
import { BebopView } from "bebop";

var Status = /* @__PURE__ */ ((Status2) => {
  Status2[(Status2["Idle"] = 0)] = "Idle";
  Status2[(Status2["Busy"] = 1)] = "Busy";
  Status2[(Status2["Done"] = 2)] = "Done";
  return Status2;
})(Status || {});
const Tiny = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return Tiny.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Tiny.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        view.writeUint32(record.seq);
        view.writeByte(Number(record.ok));
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Tiny.readFrom(view);
        return Tiny(decoded);
      },
      readFrom(view) {
        let field0;
        field0 = view.readUint32();
        let field1;
        field1 = !!view.readByte();
        return {
          seq: field0,
          ok: field1,
        };
      },
    },
  ),
);
const Point = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return Point.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Point.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        view.writeFloat64(record.lat);
        view.writeFloat64(record.lon);
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Point.readFrom(view);
        return Point(decoded);
      },
      readFrom(view) {
        let field0;
        field0 = view.readFloat64();
        let field1;
        field1 = view.readFloat64();
        return {
          lat: field0,
          lon: field1,
        };
      },
    },
  ),
);
const Item = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return Item.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Item.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        view.writeString(record.sku);
        view.writeInt32(record.qty);
        view.writeFloat64(record.price);
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Item.readFrom(view);
        return Item(decoded);
      },
      readFrom(view) {
        let field0;
        field0 = view.readString();
        let field1;
        field1 = view.readInt32();
        let field2;
        field2 = view.readFloat64();
        return {
          sku: field0,
          qty: field1,
          price: field2,
        };
      },
    },
  ),
);
const Person = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return Person.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Person.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        view.writeUint32(record.id);
        view.writeString(record.name);
        view.writeString(record.email);
        view.writeString(record.city);
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Person.readFrom(view);
        return Person(decoded);
      },
      readFrom(view) {
        let field0;
        field0 = view.readUint32();
        let field1;
        field1 = view.readString();
        let field2;
        field2 = view.readString();
        let field3;
        field3 = view.readString();
        return {
          id: field0,
          name: field1,
          email: field2,
          city: field3,
        };
      },
    },
  ),
);
const PersonList = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return PersonList.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        PersonList.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        {
          const length0 = record.people.length;
          view.writeUint32(length0);
          for (let i0 = 0; i0 < length0; i0++) {
            Person.encodeInto(record.people[i0], view);
          }
        }
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = PersonList.readFrom(view);
        return PersonList(decoded);
      },
      readFrom(view) {
        let field0;
        {
          const length0 = view.readUint32();
          field0 = [];
          for (let i0 = 0; i0 < length0; i0++) {
            let x0;
            x0 = Person.readFrom(view);
            field0[i0] = x0;
          }
        }
        return {
          people: field0,
        };
      },
    },
  ),
);
const Numbers = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return Object.freeze({
        ...data,
        encode() {
          return Numbers.encode(this);
        },
      });
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Numbers.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        view.writeString(record.name);
        view.writeUint32(record.step);
        {
          const length0 = record.values.length;
          view.writeUint32(length0);
          for (let i0 = 0; i0 < length0; i0++) {
            view.writeFloat64(record.values[i0]);
          }
        }
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Numbers.readFrom(view);
        return Numbers(decoded);
      },
      readFrom(view) {
        let field0;
        field0 = view.readString();
        let field1;
        field1 = view.readUint32();
        let field2;
        {
          const length0 = view.readUint32();
          field2 = [];
          for (let i0 = 0; i0 < length0; i0++) {
            let x0;
            x0 = view.readFloat64();
            field2[i0] = x0;
          }
        }
        return {
          name: field0,
          step: field1,
          values: field2,
        };
      },
    },
  ),
);
const Rec = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(
    // Factory function
    (data) => {
      return {
        ...data,
        encode() {
          return Rec.encode(this);
        },
      };
    },
    // Static methods
    {
      encode(record) {
        const view = BebopView.getInstance();
        view.startWriting();
        Rec.encodeInto(record, view);
        return view.toArray();
      },
      encodeInto(record, view) {
        const pos = view.reserveMessageLength();
        const start = view.length;
        if (record.id !== void 0) {
          view.writeByte(1);
          view.writeUint32(record.id);
        }
        if (record.name !== void 0) {
          view.writeByte(2);
          view.writeString(record.name);
        }
        if (record.email !== void 0) {
          view.writeByte(3);
          view.writeString(record.email);
        }
        if (record.createdAt !== void 0) {
          view.writeByte(4);
          view.writeFloat64(record.createdAt);
        }
        if (record.score !== void 0) {
          view.writeByte(5);
          view.writeFloat64(record.score);
        }
        if (record.level !== void 0) {
          view.writeByte(6);
          view.writeInt32(record.level);
        }
        if (record.active !== void 0) {
          view.writeByte(7);
          view.writeByte(Number(record.active));
        }
        if (record.status !== void 0) {
          view.writeByte(8);
          view.writeByte(record.status);
        }
        if (record.note !== void 0) {
          view.writeByte(9);
          view.writeString(record.note);
        }
        if (record.parent !== void 0) {
          view.writeByte(10);
          view.writeUint32(record.parent);
        }
        if (record.path !== void 0) {
          view.writeByte(11);
          view.writeString(record.path);
        }
        if (record.origin !== void 0) {
          view.writeByte(12);
          Point.encodeInto(record.origin, view);
        }
        if (record.items !== void 0) {
          view.writeByte(13);
          {
            const length0 = record.items.length;
            view.writeUint32(length0);
            for (let i0 = 0; i0 < length0; i0++) {
              Item.encodeInto(record.items[i0], view);
            }
          }
        }
        view.writeByte(0);
        const end = view.length;
        view.fillMessageLength(pos, end - start);
      },
      decode(buffer) {
        const view = BebopView.getInstance();
        view.startReading(buffer);
        const decoded = Rec.readFrom(view);
        return Rec(decoded);
      },
      readFrom(view) {
        const message = {};
        const length = view.readMessageLength();
        const end = view.index + length;
        while (true) {
          switch (view.readByte()) {
            case 0:
              return message;
            case 1:
              message.id = view.readUint32();
              break;
            case 2:
              message.name = view.readString();
              break;
            case 3:
              message.email = view.readString();
              break;
            case 4:
              message.createdAt = view.readFloat64();
              break;
            case 5:
              message.score = view.readFloat64();
              break;
            case 6:
              message.level = view.readInt32();
              break;
            case 7:
              message.active = !!view.readByte();
              break;
            case 8:
              message.status = view.readByte();
              break;
            case 9:
              message.note = view.readString();
              break;
            case 10:
              message.parent = view.readUint32();
              break;
            case 11:
              message.path = view.readString();
              break;
            case 12:
              message.origin = Point.readFrom(view);
              break;
            case 13:
              {
                const length0 = view.readUint32();
                message.items = [];
                for (let i0 = 0; i0 < length0; i0++) {
                  let x0;
                  x0 = Item.readFrom(view);
                  message.items[i0] = x0;
                }
              }
              break;
            default:
              view.index = end;
              return message;
          }
        }
      },
    },
  ),
);

export { Item, Numbers, Person, PersonList, Point, Rec, Status, Tiny };
