//! A group of messages laid out in memory in one form, with room for its results.

use crate::form::{Form, KeyForm, TagPlace, TextPlace};
use crate::message::{Group, Message};
use crate::strip::{Arrangement, Strip};
use sealift_core::{
    Algorithm, Batch, BatchError, Column, Keys, NonceRule, Op, Ops, Output, Place, Status, Tags,
    Text, Work,
};

pub(crate) struct Arranged<'g> {
    group: &'g Group,
    form: Form,
    nonce: Strip,
    aad: Strip,
    /// Nothing when worked in place.
    text: Option<Strip>,
    raw_keys: Option<Strip>,
    /// Nothing when appended, or when all are sealed.
    tags: Option<Strip>,
    out: Strip,
    out_tags: Option<Strip>,
    status: Vec<Status>,
}

impl<'g> Arranged<'g> {
    pub(crate) fn new(group: &'g Group, form: Form) -> Self {
        let messages = &group.messages;
        let inputs: Vec<_> = messages.iter().map(|message| input(message, form)).collect();
        let in_place = form.text == TextPlace::InPlace;
        let has = |seal| messages.iter().any(|message| (message.op == Op::Seal) == seal);
        let apart = form.tags == TagPlace::Apart;
        let tag_lengths = || vec![group.tag_length.bytes(); messages.len()];
        let mut out = Strip::empty(form.outputs, &rooms(group, form), form.memory);
        if in_place {
            inputs.iter().enumerate().for_each(|(i, bytes)| out.put(i, bytes));
        }
        Self {
            nonce: strip(messages, form, |message| &message.nonce),
            aad: strip(messages, form, |message| &message.aad),
            text: (!in_place).then(|| Strip::holding(form.inputs, &inputs, form.memory)),
            raw_keys: (form.keys == KeyForm::Raw)
                .then(|| strip(messages, form, |message| group.ring.key_bytes(message.key))),
            tags: (apart && has(false)).then(|| tag_column(group, form)),
            out_tags: (apart && has(true))
                .then(|| Strip::empty(form.outputs, &tag_lengths(), form.memory)),
            status: vec![Status::Ok; messages.len()],
            group,
            form,
            out,
        }
    }

    /// Gives the work to someone.
    ///
    /// # Errors
    /// What no batch may be, whatever the device.
    pub(crate) fn with_work<T>(
        &mut self,
        use_it: impl FnOnce(&mut Work<'_>) -> T,
    ) -> Result<T, BatchError> {
        let text = match &self.text {
            Some(strip) => Text::Apart(strip.column()),
            None => Text::InPlace,
        };
        let keys = match &self.raw_keys {
            Some(strip) => Keys::Raw(strip.column()),
            None => sessions(self.group, self.form),
        };
        let aad = aad_column(self.group, self.form).unwrap_or_else(|| self.aad.column());
        let tags = self.tags.as_ref().map_or(Column::Empty, Strip::column);
        let batch = batch(self.group, self.form, keys, [self.nonce.column(), aad, tags], text);
        let tags = self.out_tags.as_mut().map_or(Place::Empty, Strip::place);
        let output = Output { text: self.out.place(), tags, status: &mut self.status };
        let mut work = Work::new(&batch, output, &*self.group.ring)?;
        Ok(use_it(&mut work))
    }

    /// The same as a batch that can be submitted; the form must be apart.
    pub(crate) fn owned_batch(&self) -> Batch<'static> {
        let column = |strip: &Option<Strip>| match strip {
            Some(strip) => strip.owned_column(),
            None => Column::Empty,
        };
        let keys = match &self.raw_keys {
            Some(strip) => Keys::Raw(strip.owned_column()),
            None => sessions(self.group, self.form),
        };
        let others = [self.nonce.owned_column(), self.aad.owned_column(), column(&self.tags)];
        batch(self.group, self.form, keys, others, Text::Apart(column(&self.text)))
    }

    /// What became of a message: status, text and tag that were written.
    pub(crate) fn result(&self, message: usize) -> (Status, &[u8], &[u8]) {
        let (text, tag) = written(&self.group.messages[message], self.group);
        let slot = self.out.get(message);
        let tag = match &self.out_tags {
            None => slot.get(text..text + tag).unwrap_or_default(),
            Some(strip) => &strip.get(message)[..tag],
        };
        (self.status[message], &slot[..text], tag)
    }

    /// Finds a byte that the device wrote and had no business with, or left where zeros belong.
    pub(crate) fn find_damage(&self) -> Option<String> {
        let (group, appended) = (self.group, self.form.tags == TagPlace::Appended);
        let in_place = self.form.text == TextPlace::InPlace;
        if let Some(message) = (0..group.messages.len()).find(|&i| self.is_left_in_short(i)) {
            return Some(format!("message {message} is shorter than its tag and left no zeros"));
        }
        let lengths = |(i, message): (usize, &Message)| {
            let (text, tag) = written(message, group);
            if self.is_short(i) {
                return (self.out.get(i).len(), 0);
            }
            let own = if appended { (text + tag, 0) } else { (text, tag) };
            if in_place {
                (text.max(input(message, self.form).len()).max(own.0), own.1)
            } else {
                own
            }
        };
        let (texts, tags): (Vec<_>, Vec<_>) =
            group.messages.iter().enumerate().map(lengths).unzip();
        if let Some(at) = self.out.find_damage(&texts) {
            return Some(format!("byte {at} of the output belongs to no result and was written"));
        }
        if let Some(at) = self.out_tags.as_ref().and_then(|strip| strip.find_damage(&tags)) {
            return Some(format!("byte {at} of the tags belongs to no tag and was written"));
        }
        let kept = |(i, message): (usize, &Message)| {
            let given = input(message, self.form);
            let (text, _) = written(message, group);
            message.op == Op::Seal || self.out.get(i)[text..] == given[text..]
        };
        let spoilt = |&(i, message): &(usize, &Message)| !kept((i, message));
        let found = group.messages.iter().enumerate().filter(|_| in_place).find(spoilt);
        found.map(|(i, _)| format!("message {i}: bytes that are only read were overwritten"))
    }

    /// Whether a message should write a text and has less than a tag to make it from.
    fn is_short(&self, message: usize) -> bool {
        let (form, open) = (self.form, self.group.messages[message].op == Op::Open);
        let apart = form.tags == TagPlace::Appended && form.text == TextPlace::Apart;
        let given = input(&self.group.messages[message], form).len();
        apart && open && given < self.group.tag_length.bytes()
    }

    /// Nobody can say how long such a message's text is, so its whole slot has to be zeros.
    fn is_left_in_short(&self, message: usize) -> bool {
        self.is_short(message) && self.out.get(message).iter().any(|byte| *byte != 0)
    }
}

/// Bytes of text and of tag that a message writes.
fn written(message: &Message, group: &Group) -> (usize, usize) {
    match message.op {
        Op::Seal => (message.text.len(), group.tag_length.bytes()),
        Op::Open => (message.text.len(), 0),
        Op::Verify => (0, 0),
    }
}

/// What a message has in the column of texts.
fn input(message: &Message, form: Form) -> Vec<u8> {
    let appended = form.tags == TagPlace::Appended;
    let tag: &[u8] = if appended { &message.tag } else { &[] };
    [&message.text, tag].concat()
}

/// The slots: as long as needed, and now and then longer.
fn rooms(group: &Group, form: Form) -> Vec<usize> {
    let appended = form.tags == TagPlace::Appended;
    let in_place = form.text == TextPlace::InPlace;
    let spare = |i: usize| match form.outputs {
        Arrangement::Offsets64 | Arrangement::Scattered if !in_place => i % 3 * 5,
        _ => 0,
    };
    let room = |(i, message): (usize, &Message)| {
        let (text, tag) = written(message, group);
        let own = if appended { text + tag } else { text };
        if in_place { own.max(input(message, form).len()) } else { own + spare(i) }
    };
    group.messages.iter().enumerate().map(room).collect()
}

fn strip<'m>(messages: &'m [Message], form: Form, of: impl Fn(&'m Message) -> &'m [u8]) -> Strip {
    let items: Vec<_> = messages.iter().map(of).collect();
    Strip::holding(form.inputs, &items, form.memory)
}

/// The tags to check; a seal among them has bytes that nobody should look at.
fn tag_column(group: &Group, form: Form) -> Strip {
    let unused = vec![0xee; group.tag_length.bytes()];
    let tag = |message: &'_ Message| match message.op {
        Op::Seal => unused.clone(),
        Op::Open | Op::Verify => message.tag.clone(),
    };
    let tags: Vec<_> = group.messages.iter().map(tag).collect();
    Strip::holding(form.inputs, &tags, form.memory)
}

/// One for all where all are the same, unless the form is the one that says everything.
fn sessions(group: &Group, form: Form) -> Keys<'static> {
    let messages = &group.messages;
    let session = |message: &Message| group.ring.session(message.key);
    match messages.first() {
        Some(first)
            if form.inputs != Arrangement::Scattered && all(group, |m| m.key == first.key) =>
        {
            Keys::Session(session(first))
        }
        _ => Keys::Sessions(messages.iter().map(session).collect()),
    }
}

/// The short ways to say a column of aad, in the form that is for short ways.
fn aad_column(group: &Group, form: Form) -> Option<Column<'_>> {
    let first = group.messages.first()?;
    let same = form.inputs == Arrangement::Fixed && all(group, |m| m.aad == first.aad);
    same.then(
        || if first.aad.is_empty() { Column::Empty } else { Column::Same((&first.aad).into()) },
    )
}

fn ops(group: &Group, form: Form) -> Ops<'static> {
    match group.messages.first() {
        Some(first)
            if form.inputs != Arrangement::Scattered && all(group, |m| m.op == first.op) =>
        {
            Ops::All(first.op)
        }
        _ => Ops::Each(group.messages.iter().map(|message| message.op).collect()),
    }
}

fn all(group: &Group, is: impl Fn(&Message) -> bool) -> bool {
    group.messages.iter().all(is)
}

fn batch<'b>(
    group: &Group,
    form: Form,
    keys: Keys<'b>,
    [nonce, aad, tags]: [Column<'b>; 3],
    text: Text<'b>,
) -> Batch<'b> {
    Batch {
        len: group.messages.len(),
        algorithm: group.ring.algorithm(),
        ops: ops(group, form),
        keys,
        nonce,
        aad,
        text,
        tags: match form.tags {
            TagPlace::Appended => Tags::Appended,
            TagPlace::Apart => Tags::Apart(tags),
        },
        tag_length: group.tag_length,
        nonce_rule: match group.ring.algorithm() {
            Algorithm::AesGcm => NonceRule::HazmatAnyLength,
            _ => NonceRule::Standard,
        },
        stability: form.stability,
    }
}
