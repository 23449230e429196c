-- The audit trail (T-98, T-99): an entry for each thing that was done or denied.  All entries have the same fields, so
-- that Redis stores their names once for many.  AUDIT_EVENTS is how many are kept; with 0 there is no trail.
-- include: now
local AUDITED_MS = 60000 -- how long a call may be sent again
local LINE = '([^\n]*)\n'
local CALLER = '^' .. LINE .. LINE .. LINE .. LINE .. LINE .. LINE .. LINE .. LINE

-- Who asks, a line each: by, op, who, owner, from, req, args, size, and a mark of the call.  Nil where a worker calls.
local caller = nil

local function append_event(by, op, who, owner, from, req, args, size, task, label, outcome, detail, count, ago)
  redis.call('XADD', key_audit(), 'MAXLEN', '~', AUDIT_EVENTS, '*', 'by', by, 'op', op, 'who', who, 'owner', owner,
    'from', from, 'req', req, 'args', args, 'size', size, 'task', task, 'label', label, 'outcome', outcome,
    'detail', detail, 'count', count or '', 'ago', ago or '')
end

-- Notes what the caller did to a task of this label and owner, or was not let do.  An operator owns nothing.
local function audit_as(id, label, owner, outcome, detail)
  if AUDIT_EVENTS == 0 or not caller or caller == '' then return end
  local by, op, who, own, from, req, args, size = string.match(caller, CALLER)
  append_event(by, op, who, own ~= '' and own or owner, from, req, args, size, id, label, outcome, detail)
end

-- The same of a task that has to be asked what it is.
local function audit(id, outcome, detail)
  if AUDIT_EVENTS == 0 or not caller or caller == '' then return end
  local task = redis.call('HMGET', key_task(id), 'kind', 'tool', 'owner')
  audit_as(id, (task[1] or '') .. ':' .. (task[2] or ''), task[3] or '', outcome, detail)
end

-- The same for a call that changes nothing, and so would not know that it is sent again.
local function audit_once(id, outcome, detail)
  if AUDIT_EVENTS == 0 or not caller or caller == '' then return end
  if redis.call('SET', key_audited(string.match(caller, '([^\n]*)\n$')), '1', 'NX', 'PX', AUDITED_MS) then
    audit(id, outcome, detail)
  end
end

-- Notes that an owner asked for a task that is not there for it (T-89).
local function audit_miss(id, owner)
  local found = redis.call('HGET', key_task(id), 'owner')
  audit_once(id, 'denied', found and found ~= owner and 'foreign' or 'unknown')
end

-- Notes how a task of this label and owner ended: by whom, or else by its worker.
local function audit_end(id, label, owner, worker, status)
  if AUDIT_EVENTS == 0 or caller then
    return audit_as(id, label, owner, 'success', status)
  end
  append_event('worker', 'finish', worker or '', owner, '', '', '', '', id, label,
    status == 'failed' and 'failure' or 'success', status)
end
