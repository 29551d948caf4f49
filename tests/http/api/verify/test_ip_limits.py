"""Limits by address: exact, for publishable keys alone, before anything is read."""

import pytest
import trio

from risala.config.model import LimitsSection

TO = "+22236123456"


async def statuses(count: int, call) -> list[int]:
    return [(await call()).status_code for _ in range(count)]


class TestOverHttp:
    @pytest.mark.parametrize("key", ["pk_live", "pk_test"])
    async def test_sends_by_minute_and_hour(self, desk, quick, refused, key):
        async def send():
            return await desk.post("/api/verify/send", {"to": "bad"}, key)

        assert await statuses(30, send) == [400] * 30
        response = await send()
        payload = await refused(response, 429)
        assert (payload["code"], payload["data"]) == ("TOO_MANY_REQUESTS", {"limit": "ip"})
        assert response.headers["retry-after"] == "60"
        await trio.sleep(59.5)
        assert (await send()).headers["retry-after"] == "1"
        await trio.sleep(0.5)
        assert await statuses(30, send) == [400] * 30
        await trio.sleep(60)
        response = await send()
        assert (response.status_code, response.headers["retry-after"]) == (429, "3480")
        await trio.sleep(3480)
        assert (await send()).status_code == 400

    async def test_checks_have_a_limit_of_their_own(self, desk, quick):
        async def check():
            return await desk.check("ver_nothing", "1", "pk_live")

        assert await statuses(120, check) == [404] * 120
        response = await check()
        assert (response.status_code, response.headers["retry-after"]) == (429, "60")
        assert (await desk.send("pk_live")).status_code == 200
        await trio.sleep(60)
        assert (await check()).status_code == 404

    async def test_secret_keys_have_none_and_other_addresses_are_apart(self, desk):
        async def check(key="pk_live", peer="192.0.2.1"):
            return (await desk.check("ver_nothing", "1", key, peer)).status_code

        assert await statuses(121, lambda: desk.check("ver_nothing", "1")) == [404] * 121
        for _ in range(120):
            await check()
        assert await check() == 429
        assert await check("pk_test") == 429
        assert await check("sk_live") == 404
        assert await check(peer="192.0.2.2") == 404
        assert await check(peer="2001:db8::1") == 404
        for _ in range(119):
            await check(peer="2001:db8::ffff:1")
        assert await check(peer="2001:db8::2") == 429
        assert await check(peer="2001:db8:0:1::2") == 404
        assert await check(peer="::ffff:192.0.2.1") == 429

    async def test_it_comes_before_the_organizations_limits_and_takes_nothing_of_them(
        self, open_desk, quick, refused
    ):
        limits = LimitsSection(verify_ip_sends_per_minute=1, verify_ip_sends_per_hour=2)
        async with open_desk(limits=limits) as desk:
            assert (await desk.send("pk_live")).status_code == 200
            before = desk.rows()
            assert (await refused(await desk.send("pk_live"), 429))["data"] == {"limit": "ip"}
            assert desk.rows() == before
            assert await statuses(4, desk.send) == [200] * 4
            assert (await refused(await desk.send(), 429))["data"] == {"limit": "phone"}
            await trio.sleep(60)
            assert (await refused(await desk.send("pk_live"), 429))["data"] == {"limit": "phone"}

    async def test_what_fails_before_it_takes_nothing(self, open_desk):
        limits = LimitsSection(verify_ip_sends_per_minute=1)
        async with open_desk(limits=limits) as desk:
            created = await desk.make_key(allowed_origins=["https://app.example"])
            for key, headers, status in (
                ("nonsense", {}, 401),
                (created["value"], {"origin": "https://evil.example"}, 403),
            ):
                response = await desk.post("/api/verify/send", {"to": TO}, key, **headers)
                assert response.status_code == status
            await desk.client.options("/api/verify/send")
            assert (await desk.send(created["value"])).status_code == 200

    async def test_a_trusted_proxy_tells_the_address(self, open_desk):
        limits = LimitsSection(verify_ip_checks_per_minute=1)
        http = {"trusted_proxies": ["10.0.0.0/24"]}
        async with open_desk(http, limits=limits) as desk:

            async def check(peer, forwarded):
                body = {"verificationId": "ver_nothing", "code": "1"}
                headers = {"x_forwarded_for": forwarded}
                response = await desk.post("/api/verify/check", body, "pk_live", peer, **headers)
                return response.status_code

            assert await check("10.0.0.1", "198.51.100.1") == 404
            assert await check("10.0.0.2", "6.6.6.6, 198.51.100.1") == 429
            assert await check("10.0.0.1", "198.51.100.2") == 404
            assert await check("203.0.113.5", "198.51.100.3") == 404
            assert await check("203.0.113.5", "198.51.100.4") == 429
            assert await check(None, "198.51.100.5") == 404
            assert await check(None, "198.51.100.5, 10.0.0.9") == 429
