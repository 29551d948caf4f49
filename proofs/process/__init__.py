"""The real process with everything around it, each in a process of its own: a carrier, a modem, a
receiver of webhooks, and customers by every face. The service may be killed at any instant; what
the others have taken is the truth that its books are held against."""
